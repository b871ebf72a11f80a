#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace tessera::isa {

/// Every instruction of the tile ISA, in the order of table.def: `Mnemonic::fma_4h`.
enum class Mnemonic : std::uint8_t {
#define X(id, ...) id,
#include "sim/isa/table.def"
};

inline constexpr std::size_t kMnemonics =
    std::initializer_list<char>{
#define X(...) 0,
#include "sim/isa/table.def"
    }
        .size();

constexpr std::size_t index(Mnemonic mnemonic) { return static_cast<std::size_t>(mnemonic); }

/// A decoded instruction: raw field numbers, unused fields 0. `imm` is sign-extended where the
/// format is; lui and auipc hold the shifted value, amp.* the number, csr* the CSR's number (zimm
/// is in rs1), branches and jumps the distance in bytes.
struct Instruction {
  Mnemonic mnemonic{};
  std::uint8_t rd = 0;
  std::uint8_t rs1 = 0;
  std::uint8_t rs2 = 0;
  std::uint8_t rs3 = 0;
  std::uint8_t rm = 0;  ///< rounding mode, 7 dynamic; 0 where the instruction has none
  std::int32_t imm = 0;

  bool operator==(const Instruction&) const = default;
};

}  // namespace tessera::isa
