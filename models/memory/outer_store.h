#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/base/demand_zero.h"
#include "sim/base/types.h"
#include "sim/machine/external_config.h"

namespace tessera {

/// The bytes of the memory outside: one demand-zero mapping, so that it costs what is touched.
class OuterStore {
 public:
  /// Throws HostLimit or UserError if the host cannot map the capacity.
  OuterStore(const ExternalConfig& config, std::uint32_t tiles);
  /// One space of bytes that somebody else keeps.
  explicit OuterStore(std::span<std::byte> space)
      : base_(space.data()), spaces_(1), bytes_per_space_(space.size()) {}

  /// `count` bytes at `address` of the chip's address space, or of that of `tile` where each has
  /// one. Throws UserError if they do not lie within it.
  [[nodiscard]] std::span<std::byte> bytes(TileId tile, std::uint64_t address,
                                           std::uint64_t count) const;

 private:
  DemandZero memory_;  ///< none where somebody else keeps the bytes
  std::byte* base_ = nullptr;
  std::uint64_t spaces_;
  std::uint64_t bytes_per_space_;
};

}  // namespace tessera
