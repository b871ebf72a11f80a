#include "sim/isa/intrinsics.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "sim/isa/table.h"

namespace tessera::isa {
namespace {

constexpr std::string_view kEnumerators[] = {
#define X(id, ...) #id,
#include "sim/isa/table.def"
};

constexpr std::string_view kAssemblyProlog =
    R"(// Function bodies: codelet NAME ... end_codelet NAME.
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

// Register numbers as symbols: Xtile words are data to this assembler.
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
.macro xtile_range value, low, high
  .if ((\value) < (\low)) || ((\value) > (\high))
    .error "number out of range"
  .endif
.endm

)";

constexpr std::string_view kCppProlog = R"(#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wregister"
#define XTILE __attribute__((always_inline)) inline

/// Decrements `n` and goes to the C label unless it is now zero; needs `n` > 0.
#define XTILE_BDNZ(n, label) asm goto(".insn b 0x7b, 0, %0, x0, %l[" #label "]" : "+r"(n) : : : label)

namespace xtile {

template <int csr>
XTILE unsigned read_csr() {
  unsigned value;
  asm volatile("csrr %0, %1" : "=r"(value) : "i"(csr));
  return value;
}
XTILE unsigned worker() { return read_csr<0xcc0>(); }
XTILE unsigned tile() { return read_csr<0xcc1>(); }
XTILE unsigned workers() { return read_csr<0xcc2>(); }
XTILE unsigned superstep() { return read_csr<0xcc3>(); }

/// A scalar constant made from integer instructions: codelets have no constant pool.
XTILE float constant(float value) {
  unsigned bits = __builtin_bit_cast(unsigned, value);
  asm("" : "+r"(bits));
  return __builtin_bit_cast(float, bits);
}

/// Lanes of a packed value as scalars.
XTILE float low_s(double packed) {
  unsigned bits;
  asm("fmv.x.w %0, %1" : "=r"(bits) : "f"(packed));
  return __builtin_bit_cast(float, bits);
}
XTILE _Float16 low_h(double packed) {
  _Float16 value;
  unsigned bits;
  asm("fmv.x.h %0, %1" : "=r"(bits) : "f"(packed));
  asm("fmv.h.x %0, %1" : "=f"(value) : "r"(bits));
  return value;
}

)";

bool is_xtile(const InstructionInfo& line) {
  const std::uint32_t opcode = line.match & 0x7fU;
  return opcode == 0x2bU || opcode == 0x5bU || opcode == 0x7bU;
}

bool is_branch(const InstructionInfo& line) { return line.format == Format::b; }

bool is_number(const Operand& operand) {
  return operand.shape == Shape::signed_number || operand.shape == Shape::unsigned_number;
}

/// An operand's name in both languages: the token without its marks.
std::string name_of(const Operand& operand) {
  std::string name;
  for (const char c : operand.token) {
    if (c == '.' || c == ':' || c == '+') break;
    if (c != '(' && c != ')' && c != '{' && c != '}') name += c;
  }
  return name;
}

// --- assembly ------------------------------------------------------------------------------------

/// The place of an operand in the word, as an assembler expression.
std::string placed(const Operand& operand, Format format) {
  const std::string name = name_of(operand);
  if (is_number(operand)) {
    switch (format) {
      case Format::s:
        return fmt::format(" | (((\\{0}) >> 5) & 0x7f) << 25 | ((\\{0}) & 31) << 7", name);
      case Format::amp:
        return fmt::format(" | ((\\{}) & 31) << 27", name);
      case Format::group:
        return fmt::format(" | ((\\{}) & 31) << 15", name);
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

/// The numbers that an operand may take, from the bits that the table leaves open.
std::string range_check(const Operand& operand, const InstructionInfo& line) {
  const std::string name = name_of(operand);
  if (operand.shape == Shape::signed_number) {
    return fmt::format("  xtile_range \\{}, -2048, 2047\n", name);
  }
  if (operand.shape == Shape::unsigned_number) {
    const std::uint32_t open = ~line.mask;
    const std::uint32_t high = line.format == Format::amp     ? open >> 27
                               : line.format == Format::group ? (open >> 15) & 31U
                                                              : open >> 20;
    return fmt::format("  xtile_range \\{}, 0, {}\n", name, high);
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
    if (operand.shape == Shape::implicit) continue;
    parameters += (parameters.empty() ? " " : ", ") + name_of(operand);
    checks += range_check(operand, line);
    word += placed(operand, line.format);
  }
  if (is_branch(line)) {
    word = fmt::format("  .insn b {:#x}, {}, \\rs1, x0, \\target", line.match & 0x7fU,
                       (line.match >> 12) & 7U);
  }
  return fmt::format("// {}\n.macro {}{}\n{}{}\n.endm\n", line.semantics, line.mnemonic, parameters,
                     checks, word);
}

// --- C++ -----------------------------------------------------------------------------------------

std::string_view type_of(const Operand& operand) {
  if (operand.shape == Shape::x_register) return "unsigned";
  if (operand.value == Value::f32) return "float";
  return operand.value == Value::f16 ? "_Float16" : "double";
}

/// One C++ function, put together operand by operand.
class Function {
 public:
  Function(std::string_view name, const InstructionInfo& line) : name_(name), line_(line) {
    for (const Operand& operand : line.operands) {
      results_ += operand.writes && !operand.reads ? operand.registers : 0U;
    }
    // Outputs come first in an asm statement, in both passes in the table's order.
    for (const Operand& operand : line.operands) {
      if (operand.writes) add(operand);
    }
    for (const Operand& operand : line.operands) {
      if (!operand.writes) add(operand);
    }
    for (const Operand& operand : line.operands) declare(operand);
  }

  [[nodiscard]] std::string text() const {
    const std::string templates =
        numbers_.empty() && templates_.empty()
            ? ""
            : fmt::format("template <{}{}{}>\n", numbers_,
                          numbers_.empty() || templates_.empty() ? "" : ", ", templates_);
    const bool changes_state = line_.issue == IssueClass::control ||
                               line_.cost == CostClass::matrix || name_ == "rnd_64" ||
                               name_ == "srs_b" || line_.issue == IssueClass::memory;
    const bool touches_memory =
        line_.issue == IssueClass::memory || line_.issue == IssueClass::control;
    return fmt::format("/// {}\n{}XTILE {} {}({}) {{\n{}  asm{}(\"{}\" : {} : {}{});\n{}}}\n",
                       line_.semantics, templates, returned_.empty() ? "void" : returned_, name_,
                       parameters_, before_, changes_state ? " volatile" : "", instruction(),
                       outputs_, inputs_, touches_memory ? " : \"memory\"" : "", after_);
  }

 private:
  void list(std::string& to, const std::string& item) {
    if (!to.empty()) to += ", ";
    to += item;
  }

  /// Gives the operand its place in the asm statement and in the instruction.
  void add(const Operand& operand) {
    if (operand.registers > 1) return add_group(operand);
    const std::string name = name_of(operand);
    if (is_number(operand)) {
      number_ = fmt::format("%{}", count_++);
      list(inputs_, line_.format == Format::i_unsigned
                        ? fmt::format("\"i\"(({} ^ 2048) - 2048)", name)
                        : fmt::format("\"i\"({})", name));
      return;
    }
    const char file = operand.shape == Shape::f_register ? 'f' : 'r';
    place(operand.field, fmt::format("%{}", count_++));
    if (operand.writes) {
      list(outputs_,
           fmt::format("\"{}{}\"({})", operand.reads ? '+' : '=', file, variable(operand)));
    } else {
      list(inputs_, fmt::format("\"{}\"({})", file, name));
    }
  }

  /// A group sits in ft8-ft11, the one aligned group that no call preserves or passes.
  void add_group(const Operand& operand) {
    const std::string name = name_of(operand);
    place(operand.field, "f28");
    for (unsigned i = 0; i < operand.registers; ++i) {
      before_ += operand.writes
                     ? fmt::format("  register double {0}_{1} asm(\"f{2}\");\n", name, i, 28 + i)
                     : fmt::format("  register double {0}_{1} asm(\"f{2}\") = {0}[{1}];\n", name, i,
                                   28 + i);
      if (operand.writes) after_ += fmt::format("  {0}[{1}] = {0}_{1};\n", name, i);
      list(operand.writes ? outputs_ : inputs_,
           fmt::format("\"{0}f\"({1}_{2})", operand.writes ? "=" : "", name, i));
      ++count_;
    }
  }

  /// The C++ variable that the asm statement writes.
  static std::string variable(const Operand& operand) {
    return operand.shape == Shape::implicit ? name_of(operand) + "_register" : name_of(operand);
  }

  /// Adds the operand to the parameters, in the order of the assembly text.
  void declare(const Operand& operand) {
    const std::string name = name_of(operand);
    const bool pointer = operand.shape == Shape::address || operand.shape == Shape::implicit;
    if (is_number(operand)) {
      return list(numbers_, "int " + name);
    }
    if (pointer) {
      list(templates_, "class T_" + name);
      list(parameters_, fmt::format("T_{0}*{1} {0}", name, operand.writes ? "&" : ""));
      if (operand.shape == Shape::implicit) bind_fixed(name);
    } else if (operand.registers > 1) {
      list(parameters_, fmt::format("{}double (&{})[{}]", operand.writes ? "" : "const ", name,
                                    operand.registers));
    } else if (operand.writes && results_ == 1) {
      returned_ = type_of(operand);
      before_ += fmt::format("  {} {};\n", returned_, name);
      after_ += fmt::format("  return {};\n", name);
    } else if (operand.shape == Shape::x_register && !operand.writes) {
      list(templates_, "class T_" + name);
      list(parameters_, fmt::format("T_{0} {0}", name));
    } else {
      list(parameters_, fmt::format("{}{} {}", type_of(operand), operand.writes ? "&" : "", name));
    }
  }

  void bind_fixed(const std::string& name) {
    before_ += fmt::format("  register T_{0}* {0}_register asm(\"{0}\") = {0};\n", name);
    after_ += fmt::format("  {0} = {0}_register;\n", name);
  }

  void place(Field field, const std::string& operand) {
    if (field == Field::rd) rd_ = operand;
    if (field == Field::rs1) rs1_ = operand;
    if (field == Field::rs2) rs2_ = operand;
    if (field == Field::rs3) rs3_ = operand;
  }

  [[nodiscard]] std::string instruction() const {
    const std::uint32_t opcode = line_.match & 0x7fU;
    const std::uint32_t f3 = (line_.match >> 12) & 7U;
    const std::uint32_t f2 = (line_.match >> 25) & 3U;
    switch (line_.format) {
      case Format::r4:
        return fmt::format(".insn r4 {:#x}, {}, {}, {}, {}, {}, {}", opcode, f3, f2, rd_, rs1_,
                           rs2_, rs3_);
      case Format::amp:
        return fmt::format(".insn r4 {:#x}, {}, {}, {}, {}, {}, x{}", opcode, f3, f2, rd_, rs1_,
                           rs2_, number_);
      case Format::group:
        return fmt::format(".insn r {:#x}, {}, {}, {}, x{}, {}", opcode, f3, line_.match >> 25, rd_,
                           number_, rs2_);
      case Format::i:
      case Format::i_unsigned:
        return fmt::format(".insn i {:#x}, {}, {}, {}, {}", opcode, f3, rd_, rs1_, number_);
      case Format::s:
        return fmt::format(".insn s {:#x}, {}, {}, {}({})", opcode, f3, rs2_, number_, rs1_);
      default:
        return fmt::format(".insn r {:#x}, {}, {}, {}, {}, {}", opcode, f3, line_.match >> 25, rd_,
                           rs1_, rs2_);
    }
  }

  std::string_view name_;
  const InstructionInfo& line_;
  unsigned results_ = 0;
  unsigned count_ = 0;
  std::string numbers_, templates_, parameters_, before_, after_, outputs_, inputs_, returned_;
  std::string rd_ = "x0", rs1_ = "x0", rs2_ = "x0", rs3_ = "x0", number_;
};

}  // namespace

std::string intrinsics_header() {
  std::string assembly;
  std::string functions;
  for (std::size_t i = 0; i < kMnemonics; ++i) {
    if (!is_xtile(kTable[i])) continue;
    assembly += macro(kTable[i]);
    if (!is_branch(kTable[i])) functions += Function(kEnumerators[i], kTable[i]).text();
  }
  return fmt::format(
      "// Xtile for tile code; generated from sim/isa/table.def.\n#pragma once\n"
      "#ifdef __ASSEMBLER__\n{}{}#else\n{}{}}}  // namespace xtile\n#undef XTILE\n"
      "#pragma clang diagnostic pop\n#endif\n",
      kAssemblyProlog, assembly, kCppProlog, functions);
}

}  // namespace tessera::isa
