#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/program/assembler.h"

/// Which registers of the control code hold addresses of descriptor lists, from where they are
/// loaded to where exchanges start or end. A list is identified by the control-data offset of its
/// address.
namespace tessera::program {

class HeldLists {
 public:
  static constexpr std::size_t kMost = 5;

  struct Load {
    Reg to;
    std::uint32_t offset;  ///< of the address in the control data
  };

  /// Returns the loads that make registers hold the first kMost distinct lists of `wanted`; may
  /// evict others.
  std::vector<Load> hold(std::span<const std::uint32_t> wanted);
  [[nodiscard]] bool holds(std::uint32_t offset) const { return find(offset) < kMost; }
  [[nodiscard]] Reg at(std::uint32_t offset) const;
  /// True if registers can hold all `lists` at once.
  [[nodiscard]] static bool can_hold(std::span<const std::uint32_t> lists);
  void forget() { held_.fill(std::nullopt); }

 private:
  [[nodiscard]] std::size_t find(std::optional<std::uint32_t> offset) const;

  static constexpr std::array<Reg, kMost> kRegisters = {Reg::t2, Reg::t3, Reg::t4, Reg::t5,
                                                        Reg::t6};
  std::array<std::optional<std::uint32_t>, kMost> held_;
};

}  // namespace tessera::program
