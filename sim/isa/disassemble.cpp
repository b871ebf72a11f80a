#include "sim/isa/disassemble.h"

#include <array>

#include <fmt/format.h>

#include "sim/isa/decode.h"
#include "sim/isa/registers.h"
#include "sim/isa/table.h"

namespace tessera::isa {
namespace {

constexpr std::array<std::string_view, 32> kIntegerNames = {
    "zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
    "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
    "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
constexpr std::array<std::string_view, 32> kFloatNames = {
    "ft0", "ft1", "ft2", "ft3", "ft4",  "ft5",  "ft6", "ft7", "fs0",  "fs1", "fa0",
    "fa1", "fa2", "fa3", "fa4", "fa5",  "fa6",  "fa7", "fs2", "fs3",  "fs4", "fs5",
    "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};
constexpr std::array<std::string_view, 8> kRoundingNames = {"rne", "rtz", "rdn", "rup",
                                                            "rmm", "",    "",    "dyn"};
constexpr std::uint8_t kDynamicRounding = 7;

std::string csr_name(std::uint32_t number) {
  switch (number) {
    case 0x001:
      return "fflags";
    case 0x002:
      return "frm";
    case 0x003:
      return "fcsr";
    case 0xc00:
      return "cycle";
    case 0xc02:
      return "instret";
    default:
      return fmt::format("{:#x}", number);
  }
}

/// Predecessor and successor sets of a fence: four bits each, input, output, read, write.
std::string fence_sets(std::uint32_t imm) {
  const auto set = [](std::uint32_t bits) {
    std::string text;
    for (unsigned i = 0; i < 4; ++i) {
      if ((bits & (8U >> i)) != 0) text += "iorw"[i];
    }
    return text.empty() ? "0" : text;
  };
  return set((imm >> 4) & 15U) + ", " + set(imm & 15U);
}

std::string text_of(const Operand& operand, const Instruction& instruction, std::uint32_t address) {
  const std::uint32_t number = register_number(operand.field, instruction);
  const auto imm = static_cast<std::uint32_t>(instruction.imm);
  switch (operand.shape) {
    case Shape::x_register:
      return std::string(kIntegerNames[number]);
    case Shape::f_register:
      return std::string(kFloatNames[number]);
    case Shape::vector:
      return fmt::format("v{}", number);
    case Shape::half:
      return fmt::format("h{}", number);
    case Shape::accumulator:
      return fmt::format("acc{}", number);
    case Shape::address:
      return fmt::format("({})", kIntegerNames[number]);
    case Shape::displaced:
      return fmt::format("{}({})", instruction.imm, kIntegerNames[number]);
    case Shape::signed_number:
      return std::to_string(instruction.imm);
    case Shape::unsigned_number:
      return std::to_string(imm);
    case Shape::upper_number:
      return std::to_string(imm >> 12);
    case Shape::target:
      return fmt::format("{:#x}", address + imm);
    case Shape::csr:
      return csr_name(imm);
    case Shape::csr_number:
      return std::to_string(instruction.rs1);
    case Shape::rounding:
      return std::string(kRoundingNames[instruction.rm]);
    case Shape::fence:
      return fence_sets(imm);
    case Shape::mode:
    case Shape::implicit:
      break;
  }
  return "";
}

bool shown(const Operand& operand, const Instruction& instruction) {
  return operand.shape != Shape::implicit && operand.shape != Shape::mode &&
         !(operand.shape == Shape::rounding && instruction.rm == kDynamicRounding);
}

}  // namespace

std::string_view integer_register_name(std::uint32_t number) { return kIntegerNames[number]; }

std::string disassemble(const Instruction& instruction, std::uint32_t address) {
  const InstructionInfo& known = info(instruction.mnemonic);
  std::string text(known.mnemonic);
  std::string_view separator = " ";
  for (const Operand& operand : known.operands) {
    if (!shown(operand, instruction)) continue;
    text += separator;
    text += text_of(operand, instruction, address);
    separator = ", ";
  }
  return text;
}

std::string disassemble(std::uint32_t word, std::uint32_t address) {
  const auto instruction = decode(word);
  return instruction ? disassemble(*instruction, address) : fmt::format(".word {:#010x}", word);
}

}  // namespace tessera::isa
