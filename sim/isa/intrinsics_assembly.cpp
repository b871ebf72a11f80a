#include <string>
#include <string_view>

#include <fmt/format.h>

#include "sim/isa/intrinsics_names.h"
#include "sim/isa/table.h"

namespace tessera::isa {
namespace {

constexpr std::string_view kAssemblyProlog =
    R"(/* Function bodies: codelet NAME ... end_codelet NAME. */
.macro codelet name
  .section .text.\name, "ax", @progbits
  .globl \name
  .type \name, @function
  .balign 8
\name:
.endm
.macro end_codelet name
  .size \name, . - \name
.endm
/* \to: the arguments at a0, so many bytes further for each worker before this one. */
.macro worker_arguments to, bytes
  csrr \to, 0xcc0
.if (\bytes) == 8
  sh3add \to, \to, a0
.elseif (\bytes) == 16
  slli \to, \to, 4
  add \to, \to, a0
.elseif (\bytes) == 24
  sh1add \to, \to, \to
  sh3add \to, \to, a0
.else
  .error "arguments of 8, 16 or 24 bytes a worker"
.endif
.endm

/* Register numbers as symbols: Xtile words are data to this assembler. */
.irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  .set x\n, \n
  .set f\n, \n
.endr
.macro xtile_names first, names:vararg
  .set xtile_number, \first
  .irp name, \names
    .set \name, xtile_number
    .set xtile_number, xtile_number + 1
  .endr
.endm
xtile_names 0, zero, ra, sp, gp, tp, t0, t1, t2, s0, s1, a0, a1, a2, a3, a4, a5, a6, a7
xtile_names 18, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, t3, t4, t5, t6
xtile_names 0, ft0, ft1, ft2, ft3, ft4, ft5, ft6, ft7, fs0, fs1, fa0, fa1, fa2, fa3, fa4, fa5
xtile_names 16, fa6, fa7, fs2, fs3, fs4, fs5, fs6, fs7, fs8, fs9, fs10, fs11, ft8, ft9, ft10, ft11
xtile_names 0, v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11
xtile_names 0, h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, h10, h11
xtile_names 12, h12, h13, h14, h15, h16, h17, h18, h19, h20, h21, h22, h23
xtile_names 0, acc0, acc1, acc2, acc3, acc4, acc5, acc6, acc7
.macro xtile_range value, low, high
  .if ((\value) < (\low)) || ((\value) > (\high))
    .error "number out of range"
  .endif
.endm

)";

/// An operand's bits in the instruction word, as an assembler expression.
std::string placed(const Operand& operand, Format format) {
  const std::string name = name_of(operand);
  if (is_number(operand)) {
    switch (format) {
      case Format::s:
        return fmt::format(" | (((\\{0}) >> 5) & 0x7f) << 25 | ((\\{0}) & 31) << 7", name);
      case Format::amp:  // see kFarOpcode
        return fmt::format(
            " | ((\\{0}) & 31) << 27 ^ ((\\{0}) >> 5) << 12 ^ (((\\{0}) >> 5 | (\\{0}) >> 6) & 1) "
            "* {1:#x}",
            name, kFarOpcode ^ kMatrixOpcode);
      case Format::weights:
        return fmt::format(" | ((\\{0}) & 0xfff) << 20 | ((\\{0}) >> 12) << 7", name);
      case Format::launch:
        return fmt::format(" | ((\\{}) & 0x3f) << 25", name);
      default:
        return fmt::format(" | ((\\{}) & 0xfff) << 20", name);
    }
  }
  switch (operand.field) {
    case Field::rd:
      return fmt::format(" | (\\{}) << 7", name);
    case Field::rs1:
      return fmt::format(" | (\\{}) << 15", name);
    case Field::rs2:
      return fmt::format(" | (\\{}) << 20", name);
    case Field::rs3:
      return fmt::format(" | (\\{}) << 27", name);
    default:
      return "";
  }
}

/// Text that makes the assembler reject a number or group that the word cannot encode.
std::string range_check(const Operand& operand, const InstructionInfo& line) {
  const std::string name = name_of(operand);
  if (operand.shape == Shape::signed_number) {
    return fmt::format("  xtile_range \\{}, -2048, 2047\n", name);
  }
  if (operand.shape == Shape::unsigned_number) {
    return fmt::format("  xtile_range \\{}, 0, {}\n", name, largest_number(line));
  }
  if (is_numbered(operand)) {
    return fmt::format("  xtile_range \\{}, 0, {}\n", name, register_count(operand) - 1);
  }
  if (operand.registers > 1) {
    return fmt::format("  .if (\\{}) & {}\n    .error \"register group not aligned\"\n  .endif\n",
                       name, operand.registers - 1);
  }
  return "";
}

std::string macro(const InstructionInfo& line) {
  std::string parameters;
  std::string checks;
  std::string word = fmt::format("  .4byte {:#010x}", line.match);
  for (const Operand& operand : line.operands) {
    if (operand.shape == Shape::implicit || operand.shape == Shape::mode) continue;
    parameters += (parameters.empty() ? " " : ", ") + name_of(operand);
    checks += range_check(operand, line);
    word += placed(operand, line.format);
  }
  if (is_branch(line)) {
    word = fmt::format("  .insn b {:#x}, {}, \\rs1, x0, \\target", line.match & 0x7fU,
                       (line.match >> 12) & 7U);
  }
  return fmt::format("/* {} */\n.macro {}{}\n{}{}\n.endm\n", line.semantics, line.mnemonic,
                     parameters, checks, word);
}

}  // namespace

std::string assembly_macros() {
  std::string text(kAssemblyProlog);
  for (const InstructionInfo& line : kTable) {
    if (is_xtile(line)) text += macro(line);
  }
  return text;
}

}  // namespace tessera::isa
