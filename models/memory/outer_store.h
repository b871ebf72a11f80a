#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/base/demand_zero.h"
#include "sim/base/types.h"
#include "sim/machine/external_config.h"

namespace tessera {

/// The bytes of external memory: one demand-zero mapping that costs only what is touched.
class OuterStore {
 public:
  /// Throws HostLimit or UserError if the host cannot map the capacity.
  OuterStore(const ExternalConfig& config, std::uint32_t tiles);
  /// One address space over bytes that the caller keeps.
  explicit OuterStore(std::span<std::byte> space)
      : base_(space.data()), spaces_(1), bytes_per_space_(space.size()) {}

  /// `count` bytes at `address` of the chip's address space, or of `tile`'s where each has one.
  /// Throws UserError if they do not lie within it.
  [[nodiscard]] std::span<std::byte> bytes(TileId tile, std::uint64_t address,
                                           std::uint64_t count) const;

 private:
  DemandZero memory_;  ///< empty if the caller keeps the bytes
  std::byte* base_ = nullptr;
  std::uint64_t spaces_;
  std::uint64_t bytes_per_space_;
};

}  // namespace tessera
