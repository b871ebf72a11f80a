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

/// External memory, as a fabric whose transfers have one participant each: a list
/// (sim/program/transfer_list.h) in its SRAM names the bytes. OuterTraffic gives the timing,
/// DramChannel that of a channel.
///
/// A transfer is returned at its Delivery's cycle `done`. Bytes that it writes are in the store
/// from then on; bytes that it reads leave the store between its start and then. So a transfer that
/// starts when another is done sees its writes; concurrent transfers that overlap in the store or
/// in SRAM are a program error that is not reported, and leave undefined bytes.
class ExternalMemory final : public fabric::Fabric {
 public:
  /// Needs machine.external. Throws if the host cannot map its capacity. `target`: the memory where
  /// machine.external.model is `platform`, which must outlive this; otherwise null.
  ExternalMemory(const MachineConfig& machine, std::uint32_t tiles, OuterTarget* target = nullptr);

  void leave_values() override { traffic_.leave_values(); }
  void begin() override { starts_.clear(); }
  /// Throws UserError naming tile and list if the list, or a range it names, does not lie within
  /// SRAM or the memory, or if the list overwrites itself.
  fabric::Token submit(const fabric::Participant& side) override;
  /// A lower bound on the next completion: advancing to it may complete nothing, a few times per
  /// transfer.
  [[nodiscard]] std::optional<Cycle> next_event() const override { return traffic_.next(); }
  /// Each has one participant; `begin` is the issue of its first request, `delivered` the bytes
  /// read and written.
  std::vector<fabric::Moved> advance(Cycle to, HostThreads& threads) override;
  [[nodiscard]] Cycle lookahead() const override { return Cycle(UINT64_MAX); }
  [[nodiscard]] std::string missing(fabric::Token side) const override;
  /// One entry per transfer, with its tile as both source and destination.
  [[nodiscard]] std::vector<trace::Transfer> transfers(const fabric::Moved& moved) const override;

  /// Records the target's answer to request number `request`: its data pass in `cycle`. Throws
  /// UserError naming tile, address and `error` unless that is empty.
  void answer(std::uint32_t request, Cycle cycle, std::string_view error);

  /// For loading and reading, in no simulated time: `count` bytes at `address` of the chip's
  /// address space, or of `tile`'s where each has one. Throws UserError if they do not lie within
  /// it. Empty where a target holds the bytes.
  [[nodiscard]] std::span<std::byte> bytes(TileId tile, std::uint64_t address,
                                           std::uint64_t count) {
    return store_ ? store_->bytes(tile, address, count) : std::span<std::byte>{};
  }

  /// Channels of the chip, or of tile 0, then tile 1, ...; 0 where a target holds the bytes.
  [[nodiscard]] std::uint32_t channels() const {
    return static_cast<std::uint32_t>(traffic_.channels().size());
  }
  [[nodiscard]] const DramChannel::Statistics& channel(std::uint32_t number) const {
    return traffic_.channels()[number].statistics();
  }
  /// Sums over channels.
  [[nodiscard]] DramChannel::Statistics totals() const;
  /// Bytes of finished transfers.
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
