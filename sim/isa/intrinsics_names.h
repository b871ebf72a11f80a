#pragma once

#include <string>

#include "sim/isa/table.h"

/// Names that both halves of xtile.h use.
namespace tessera::isa {

inline bool is_xtile(const InstructionInfo& line) {
  const std::uint32_t opcode = line.match & 0x7fU;
  return opcode == kFarOpcode || opcode == 0x2bU || opcode == 0x5bU || opcode == 0x7bU;
}

inline bool is_branch(const InstructionInfo& line) { return line.format == Format::b; }

inline bool is_number(const Operand& operand) {
  return operand.shape == Shape::signed_number || operand.shape == Shape::unsigned_number;
}

/// True if C++ names the operand's register by its number.
inline bool is_numbered(const Operand& operand) {
  return is_of_integer_unit(operand) && operand.shape != Shape::mode;
}

/// The largest value of an unsigned number, from the bits that the table leaves open.
constexpr std::uint32_t largest_number(const InstructionInfo& line) {
  const std::uint32_t open = ~line.mask;
  constexpr std::uint32_t kFarNumbers = 3U << 5;
  if (line.format == Format::amp) return open >> 27 | (open >> 31 != 0 ? kFarNumbers : 0U);
  if (line.format == Format::weights) return open >> 20 | ((open >> 7) & 31U) << 12;
  if (line.format == Format::launch) return (open >> 25) & 0x3fU;
  return open >> 20;
}

/// An operand's name in both languages: its token without marks.
inline std::string name_of(const Operand& operand) {
  std::string name;
  for (const char c : operand.token) {
    if (c == '.' || c == ':' || (c == '+' && !name.empty())) break;
    if (c != '+' && c != '(' && c != ')' && c != '{' && c != '}') name += c;
  }
  return name;
}

/// The two halves of xtile.h, without the surrounding preprocessor lines.
std::string assembly_macros();
std::string cpp_functions();

}  // namespace tessera::isa
