#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <systemc>

#include "models/chip/arrival_group.h"
#include "models/fabric/fabric.h"

/// Interfaces between the modules of a chip. Calls come in simulated order, or early where no
/// result can depend on it.
namespace tessera {

/// Barriers, as tiles see them.
class BarrierPort : public virtual sc_core::sc_interface {
 public:
  /// Reports tiles that wait at one barrier before one step.
  virtual void arrive(const ArrivalGroup& group) = 0;
};

/// The carrier of transfers, as tiles see it: the fabric, external memory or the host link.
class TransferPort : public virtual sc_core::sc_interface {
 public:
  /// A run begins.
  virtual void begin() = 0;
  /// Submits a tile's started side of a transfer. Throws UserError for a broken descriptor list.
  virtual void submit(const fabric::Participant& side) = 0;
  /// See fabric::Fabric::lookahead.
  [[nodiscard]] virtual Cycle lookahead() const = 0;
};

/// External memory, as the host sees it while no run is going on.
class OutsidePort : public virtual sc_core::sc_interface {
 public:
  /// The bytes at [address, address + bytes), which must lie within it; `tile`: the owner, where
  /// each tile has its own memory. Empty where the platform holds the bytes.
  [[nodiscard]] virtual std::span<std::byte> outside(TileId tile, std::uint64_t address,
                                                     std::uint64_t bytes) = 0;
  /// Read and write these bytes, wherever they are held. Throw UserError if the platform's memory
  /// does not transfer all of them.
  virtual void read_outside(TileId tile, std::uint64_t address, std::span<std::byte> into) = 0;
  virtual void write_outside(TileId tile, std::uint64_t address,
                             std::span<const std::byte> from) = 0;
};

/// The tiles, as barriers and the fabric see them.
class TilePort : public virtual sc_core::sc_interface {
 public:
  /// The message to tiles that leave a barrier.
  struct Release {
    std::uint32_t zone;
    Cycle at;
    bool measured;  ///< the superstep that ends here is measured
  };
  virtual void release(const Release& release) = 0;
  /// Delivers a finished transfer.
  virtual void deliver(const fabric::Moved& moved) = 0;
};

/// The host's link, as the host sees it.
class HostLinkPort : public virtual sc_core::sc_interface {
 public:
  /// Bytes that transfers named `transfer` brought from the tiles, in order; empty if none did.
  [[nodiscard]] virtual std::span<const std::byte> written(std::string_view transfer) const = 0;
};

}  // namespace tessera
