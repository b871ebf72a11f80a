#pragma once

#include <cstdint>

#include "sim/isa/mnemonic.h"

namespace tessera::engine {

/// One instruction of a sequence that a handler does, with what is known of its registers. An
/// operand that is n here is what the n-th instruction before made, which the handler still holds;
/// 0: it is read from its register.
struct Part {
  isa::Mnemonic mnemonic;
  std::uint8_t rs1 = 0;
  std::uint8_t rs2 = 0;
  std::uint8_t rs3 = 0;
  bool rd_is_rs1 = false;
  bool rs2_is_x0 = false;

  // NOLINTNEXTLINE(google-explicit-constructor,hicpp-explicit-conversions): tables name mnemonics
  constexpr Part(isa::Mnemonic m, std::uint8_t first = 0, std::uint8_t second = 0,
                 std::uint8_t third = 0)
      : mnemonic(m), rs1(first), rs2(second), rs3(third) {}
  [[nodiscard]] constexpr Part in_place() const {
    Part part = *this;
    part.rd_is_rs1 = true;
    return part;
  }
  [[nodiscard]] constexpr Part with_zero() const {
    Part part = *this;
    part.rs2_is_x0 = true;
    return part;
  }
  bool operator==(const Part&) const = default;
};

}  // namespace tessera::engine
