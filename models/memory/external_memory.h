#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "models/fabric/fabric.h"
#include "models/memory/outer_store.h"
#include "models/memory/outer_traffic.h"

namespace tessera {

/// The memory outside the tiles, as a fabric of which each transfer has one participant: a list of
/// sim/program/transfer_list.h in its SRAM says what moves. OuterTraffic says when, DramChannel how
/// long a channel takes.
///
/// A transfer is done when its Delivery says, and is returned at that cycle. Bytes that it writes
/// are in the store from then on; bytes that it reads left the store after its start and before
/// then. So a transfer that starts when another is done sees what that wrote; if two under way meet
/// in the store, or in SRAM, the bytes read and left are the program's fault, with no message.
class ExternalMemory final : public fabric::Fabric {
 public:
  /// machine.external must be given. Throws if the host cannot map its capacity. `target` is the
  /// memory where machine.external.model is `platform`, and outlives it; else it is null.
  ExternalMemory(const MachineConfig& machine, std::uint32_t tiles, OuterTarget* target = nullptr);

  void leave_values() override { traffic_.leave_values(); }
  void begin() override { starts_.clear(); }
  /// Throws UserError naming tile and list if that or what it names does not lie within SRAM or the
  /// memory, or if it overwrites itself.
  fabric::Token submit(const fabric::Participant& side) override;
  /// A cycle before which nothing is done, not always one in which something is: it may be asked
  /// for in vain, a few times a transfer.
  [[nodiscard]] std::optional<Cycle> next_event() const override { return traffic_.next(); }
  /// One participant each; `begin` is the issue of the first request, `delivered` what is read and
  /// written.
  std::vector<fabric::Moved> advance(Cycle to, HostThreads& threads) override;
  [[nodiscard]] Cycle lookahead() const override { return Cycle(UINT64_MAX); }
  [[nodiscard]] std::string missing(fabric::Token side) const override;
  /// One for each transfer that moved, from its tile to itself.
  [[nodiscard]] std::vector<trace::Transfer> transfers(const fabric::Moved& moved) const override;

  /// The target answers the request that it was sent under this number: its data pass in `cycle`.
  /// Throws UserError naming tile, address and `error` unless that is empty.
  void answer(std::uint32_t request, Cycle cycle, std::string_view error);

  /// For loading and reading, beside time: `count` bytes at `address` of the chip's address space,
  /// or of that of `tile` where each has one. Throws UserError if they do not lie within it. None
  /// where a target holds them.
  [[nodiscard]] std::span<std::byte> bytes(TileId tile, std::uint64_t address,
                                           std::uint64_t count) {
    return store_ ? store_->bytes(tile, address, count) : std::span<std::byte>{};
  }

  /// Each channel of the chip, or of tile 0, then of tile 1, ...; none where a target holds bytes.
  [[nodiscard]] std::uint32_t channels() const {
    return static_cast<std::uint32_t>(traffic_.channels().size());
  }
  [[nodiscard]] const DramChannel::Statistics& channel(std::uint32_t number) const {
    return traffic_.channels()[number].statistics();
  }
  /// Sums over channels.
  [[nodiscard]] DramChannel::Statistics totals() const;
  /// Bytes of transfers that are done.
  [[nodiscard]] Bytes read() const { return read_; }
  [[nodiscard]] Bytes written() const { return written_; }

 private:
  ExternalConfig config_;
  std::optional<OuterStore> store_;
  OuterTraffic traffic_;
  std::unordered_map<std::uint64_t, std::uint64_t> starts_;  ///< by tile and list
  Bytes read_;
  Bytes written_;
};

}  // namespace tessera
