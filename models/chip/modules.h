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

/// How the modules of a chip ask each other. All of it is told in simulated order, or ahead of it
/// where nobody can tell.
namespace tessera {

/// Barriers, as tiles see them.
class BarrierPort : public virtual sc_core::sc_interface {
 public:
  /// Tiles that wait at one barrier, for one step.
  virtual void arrive(const ArrivalGroup& group) = 0;
};

/// The carrier of transfers, as tiles see it: the fabric, memory outside or the host's link.
class TransferPort : public virtual sc_core::sc_interface {
 public:
  /// A run begins.
  virtual void begin() = 0;
  /// A side of a transfer has started. Throws UserError for a broken descriptor list.
  virtual void submit(const fabric::Participant& side) = 0;
  /// As Fabric's.
  [[nodiscard]] virtual Cycle lookahead() const = 0;
};

/// Memory outside the tiles, as the host sees it when nothing runs.
class OutsidePort : public virtual sc_core::sc_interface {
 public:
  /// Bytes of it, all of them within it; `tile`: whose it is, where each tile has its own. None
  /// where the platform holds them.
  [[nodiscard]] virtual std::span<std::byte> outside(TileId tile, std::uint64_t address,
                                                     std::uint64_t bytes) = 0;
  /// Read and write them, whoever holds them. Throw UserError if the platform's memory does not
  /// move all bytes.
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
    bool measured;  ///< their work since the barrier before counts
  };
  virtual void release(const Release& release) = 0;
  /// Bytes have moved.
  virtual void deliver(const fabric::Moved& moved) = 0;
};

/// The host's link, as the host sees it.
class HostLinkPort : public virtual sc_core::sc_interface {
 public:
  /// Bytes that transfers of that name brought from the tiles, in order; empty if none did.
  [[nodiscard]] virtual std::span<const std::byte> written(std::string_view transfer) const = 0;
};

}  // namespace tessera
