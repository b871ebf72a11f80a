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

/// The DMA of a tile whose workers start transfers with the tile's own external memory (`ldma`,
/// `sdma`): a front end of OuterTraffic, which gives the timing.
/// Timing: a transfer starts after the last issue of its instruction; transfers are served in order
/// of their starts, as in OuterTraffic. A worker has at most one in flight. Source: cores.md 2.1
/// (UPMEM: at most 2 bytes a cycle, alpha + beta x size).
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
    Cycle start, begin, done;  ///< start; issue of its first request; end
  };

  /// `outside`: the bytes of the tile's external memory; it and `memory` outlive this. Needs
  /// machine.external.worker_dma.
  WorkerDma(const ExternalConfig& external, double clock_ghz, const engine::TileMemory& memory,
            std::span<std::byte> outside);

  void leave_values() { traffic_.leave_values(); }
  /// The error in the operands; nothing if they are valid.
  [[nodiscard]] std::optional<std::string> refused(const Request& request) const;
  /// Starts a valid request, at a cycle that advance() has not passed.
  void start(std::uint32_t worker, Cycle at, const Request& request);
  /// Lower bound on the next end of a transfer; nothing if none is in flight.
  [[nodiscard]] std::optional<Cycle> next() const { return traffic_.next(); }
  /// The transfers that end at `to`, which must not exceed next(), by worker.
  const std::vector<Ended>& advance(Cycle to);

  /// The channels of the tile's external memory.
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
