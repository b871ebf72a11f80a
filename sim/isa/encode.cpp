#include "sim/isa/encode.h"

#include "sim/base/errors.h"
#include "sim/isa/decode.h"
#include "sim/isa/table.h"

namespace tessera::isa {
namespace {

std::uint32_t immediate_bits(Format format, std::uint32_t imm) {
  switch (format) {
    case Format::i:
    case Format::i_unsigned:
    case Format::shift:
      return imm << 20;
    case Format::s:
      return (imm >> 5) << 25 | (imm & 31U) << 7;
    case Format::b:
      return ((imm >> 12) & 1U) << 31 | ((imm >> 5) & 0x3fU) << 25 | ((imm >> 1) & 15U) << 8 |
             ((imm >> 11) & 1U) << 7;
    case Format::u:
      return imm;
    case Format::j:
      return ((imm >> 20) & 1U) << 31 | ((imm >> 1) & 0x3ffU) << 21 | ((imm >> 11) & 1U) << 20 |
             ((imm >> 12) & 0xffU) << 12;
    case Format::amp:
      return imm << 27;
    case Format::weights:
      return imm << 20 | (imm >> 12) << 7;
    case Format::launch:
      return imm << 25;
    case Format::r:
    case Format::r4:
      break;
  }
  return 0;
}

/// Bits of the word that encode the upper bits of an amp.*'s number.
std::uint32_t far_bits(Format format, std::uint32_t imm) {
  constexpr unsigned kNumberBits = 5;
  if (format != Format::amp || imm >> kNumberBits == 0) return 0;
  return imm >> kNumberBits << 12 | (kMatrixOpcode ^ kFarOpcode);
}

}  // namespace

std::uint32_t encode(const Instruction& instruction) {
  const InstructionInfo& known = info(instruction.mnemonic);
  const auto imm = static_cast<std::uint32_t>(instruction.imm);
  const std::uint32_t near =
      known.match | std::uint32_t{instruction.rd} << 7 | std::uint32_t{instruction.rm} << 12 |
      std::uint32_t{instruction.rs1} << 15 | std::uint32_t{instruction.rs2} << 20 |
      std::uint32_t{instruction.rs3} << 27 | immediate_bits(known.format, imm);
  const std::uint32_t word = near ^ far_bits(known.format, imm);
  // A value that does not fit its field decodes differently.
  check(decode(word) == instruction,
        "isa: operands out of range for {}: rd {} rs1 {} rs2 {} imm {}", known.mnemonic,
        instruction.rd, instruction.rs1, instruction.rs2, instruction.imm);
  return word;
}

}  // namespace tessera::isa
