#include "sim/isa/decode.h"

#include <array>

#include "sim/isa/registers.h"
#include "sim/isa/table.h"

namespace tessera::isa {
namespace {

// Candidates by opcode[6:2] and funct3: a few for most words, about forty for OP-FP.
constexpr std::size_t kBuckets = 256;
constexpr std::uint32_t kBucketBits = 0x707c;

constexpr std::uint32_t bucket_of(std::uint32_t word) {
  return ((word >> 2) & 31U) << 3 | ((word >> 12) & 7U);
}
constexpr std::uint32_t word_of(std::uint32_t bucket) {
  return (bucket >> 3) << 2 | (bucket & 7U) << 12;
}
constexpr bool belongs(const InstructionInfo& known, std::uint32_t bucket) {
  return ((word_of(bucket) ^ known.match) & known.mask & kBucketBits) == 0;
}

struct Index {
  std::array<std::uint16_t, kBuckets + 1> start{};
  std::array<std::uint8_t, kMnemonics * 8> mnemonics{};
};

consteval Index make_index() {
  Index made;
  std::uint16_t count = 0;
  for (std::uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
    made.start[bucket] = count;
    for (std::size_t i = 0; i < kMnemonics; ++i) {
      if (belongs(kTable[i], bucket)) made.mnemonics[count++] = static_cast<std::uint8_t>(i);
    }
  }
  made.start[kBuckets] = count;
  return made;
}

constexpr Index kIndex = make_index();

constexpr std::uint8_t bits5(std::uint32_t word, unsigned low) {
  return static_cast<std::uint8_t>((word >> low) & 31U);
}
constexpr std::int32_t sign_extend(std::uint32_t value, unsigned bits) {
  return static_cast<std::int32_t>(value << (32 - bits)) >> (32 - bits);
}

std::int32_t branch_distance(std::uint32_t w) {
  return sign_extend(
      (w >> 31) << 12 | ((w >> 7) & 1U) << 11 | ((w >> 25) & 0x3fU) << 5 | ((w >> 8) & 15U) << 1,
      13);
}
std::int32_t jump_distance(std::uint32_t w) {
  return sign_extend((w >> 31) << 20 | ((w >> 12) & 0xffU) << 12 | ((w >> 20) & 1U) << 11 |
                         ((w >> 21) & 0x3ffU) << 1,
                     21);
}

std::int32_t immediate(Format format, std::uint32_t w) {
  switch (format) {
    case Format::i:
      return sign_extend(w >> 20, 12);
    case Format::i_unsigned:
      return static_cast<std::int32_t>(w >> 20);
    case Format::shift:
      return bits5(w, 20);
    case Format::s:
      return sign_extend((w >> 25) << 5 | ((w >> 7) & 31U), 12);
    case Format::b:
      return branch_distance(w);
    case Format::u:
      return static_cast<std::int32_t>(w & 0xfffff000U);
    case Format::j:
      return jump_distance(w);
    case Format::amp:
      return bits5(w, 27);
    case Format::weights:
      return static_cast<std::int32_t>(w >> 20 | std::uint32_t{bits5(w, 7)} << 12);
    case Format::launch:
      return static_cast<std::int32_t>((w >> 25) & 0x3fU);
    case Format::r:
    case Format::r4:
      break;
  }
  return 0;
}

// `w` holds only the operand bits: bits fixed by the table read as 0.
Instruction fields(Mnemonic mnemonic, Format format, std::uint32_t w) {
  Instruction made{.mnemonic = mnemonic, .imm = immediate(format, w)};
  const bool upper = format == Format::u || format == Format::j;
  if (format != Format::s && format != Format::b && format != Format::weights)
    made.rd = bits5(w, 7);
  if (!upper) made.rs1 = bits5(w, 15);
  if (format == Format::r || format == Format::r4 || format == Format::s || format == Format::b ||
      format == Format::amp || format == Format::launch) {
    made.rs2 = bits5(w, 20);
  }
  if (format == Format::r4) made.rs3 = bits5(w, 27);
  if (format == Format::r || format == Format::r4) {
    made.rm = static_cast<std::uint8_t>((w >> 12) & 7U);
  }
  return made;
}

/// True if all registers of the instruction exist.
bool names_registers(const Instruction& made) {
  for (const Operand& operand : info(made.mnemonic).operands) {
    if (register_number(operand.field, made) >= register_count(operand)) return false;
  }
  return true;
}

std::optional<Instruction> decode_near(std::uint32_t word) {
  const std::uint32_t bucket = bucket_of(word);
  for (std::size_t i = kIndex.start[bucket]; i < kIndex.start[bucket + 1]; ++i) {
    const auto mnemonic = static_cast<Mnemonic>(kIndex.mnemonics[i]);
    const InstructionInfo& known = info(mnemonic);
    if ((word & known.mask) != known.match) continue;
    const Instruction made = fields(mnemonic, known.format, word & ~known.mask);
    const bool reserved = made.rm == 5 || made.rm == 6 || !names_registers(made);
    return reserved ? std::nullopt : std::optional(made);
  }
  return std::nullopt;
}

/// amp.* with numbers from 32 on, whose upper bits the table does not hold.
std::optional<Instruction> decode_far(std::uint32_t word) {
  constexpr std::uint32_t kNear = info(Mnemonic::amp_h).match;
  constexpr std::uint32_t kPlace = 0x707f;  // opcode and funct3
  const std::uint32_t upper = (word ^ kNear) >> 12 & 7U;
  if (upper < 1 || upper > 3) return std::nullopt;
  std::optional<Instruction> made = decode_near((word & ~kPlace) | kNear);
  if (!made) return std::nullopt;
  made->imm |= static_cast<std::int32_t>(upper << 5);
  return made;
}

}  // namespace

std::optional<Instruction> decode(std::uint32_t word) {
  const bool far = (word & 0x7fU) == kFarOpcode && (word >> 12 & 7U) < kFirstOwnFunct3;
  return far ? decode_far(word) : decode_near(word);
}

}  // namespace tessera::isa
