#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/memory/outer_store.h"
#include "models/memory/outer_traffic.h"
#include "sim/engine/context.h"

namespace tessera {

/// The DMA of a tile whose workers start transfers with its own memory outside (`ldma`, `sdma`): a
/// front of OuterTraffic, which says when they are done.
/// Timing: a transfer starts behind the last issue of its instruction; transfers are served in the
/// order of their starts, one behind the other as OuterTraffic says. A worker has one under way at
/// most. Source: cores.md 2.1 (UPMEM: at most 2 bytes a cycle, alpha + beta x size).
class WorkerDma {
 public:
  /// Operands of one instruction.
  struct Request {
    std::uint32_t local;    ///< in SRAM
    std::uint32_t address;  ///< outside
    std::uint32_t bytes;
    bool outward;  ///< from SRAM
  };
  struct Ended {
    std::uint32_t worker;
    Request request;
    Cycle start, begin, done;  ///< it starts; its first request is issued
  };

  /// `outside` are the bytes of the tile's memory; both outlive it. machine.external.worker_dma is
  /// given.
  WorkerDma(const ExternalConfig& external, double clock_ghz, const engine::TileMemory& memory,
            std::span<std::byte> outside);

  void leave_values() { traffic_.leave_values(); }
  /// The error in the operands; nothing if they are allowed.
  [[nodiscard]] std::optional<std::string> refused(const Request& request) const;
  /// Starts one that is allowed, at a cycle that advance() has not passed.
  void start(std::uint32_t worker, Cycle at, const Request& request);
  /// No transfer that has started ends before it; nothing if none is under way.
  [[nodiscard]] std::optional<Cycle> next() const { return traffic_.next(); }
  /// The transfers that end at `to`, which is not behind next(), by worker.
  const std::vector<Ended>& advance(Cycle to);

  /// One after the other.
  [[nodiscard]] std::span<const DramChannel> channels() const { return traffic_.channels(); }

 private:
  WorkerDmaConfig config_;
  engine::TileMemory memory_;
  std::uint64_t capacity_;
  OuterStore store_;
  OuterTraffic traffic_;
  std::vector<Ended> ended_;
};

}  // namespace tessera
