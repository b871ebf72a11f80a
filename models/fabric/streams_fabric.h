#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "models/fabric/gathering.h"

namespace tessera::fabric {

/// Streams between classes of nodes (machine.fabric.streams), each moved by the DMAs of its ends. A
/// node has separate ports for every kind of stream and direction; a stream takes one at its sender
/// and one at every receiver; multicast costs the sender nothing more.
/// Leaves out: shared switches between nodes, DMA cycles per descriptor, back-pressure within a
/// stream, SRAM bank conflicts.
/// Timing: an exchange's streams are ready when its last participant has started; in order, each
/// begins when each of its ends has a port free of earlier streams, takes bytes / rate cycles,
/// rounded up, and its ends are done fixed_cycles later. A side is done when its last stream is.
/// Source: AM020 (streams are circuit-switched; a DMA channel serves its descriptors in order).
class StreamsFabric : public Fabric {
 public:
  explicit StreamsFabric(const FabricConfig& config) : config_(config) {}

  void leave_values() override { values_ = false; }
  void begin() override { starts_.clear(); }
  Token submit(const Participant& side) override;
  [[nodiscard]] std::optional<Cycle> next_event() const override { return gathering_.next(); }
  std::vector<Moved> advance(Cycle to, HostThreads& threads) override;
  [[nodiscard]] Cycle lookahead() const override { return Cycle(UINT64_MAX); }
  [[nodiscard]] std::string missing(Token side) const override { return gathering_.missing(side); }
  [[nodiscard]] std::vector<trace::Transfer> transfers(const Moved& moved) const override;

 private:
  /// An end of a stream: its side and its entry there.
  struct End {
    std::size_t side;
    program::StreamEntry entry;
  };
  struct Flow {
    std::optional<End> sender;
    std::vector<End> receivers;
    std::uint64_t size = 0;
    std::vector<std::byte> bytes = {};  ///< in transit, if values are moved
  };
  using Ports = std::vector<Cycle>;  ///< when each port of a node and kind is free

  Moved move(Gathering::Ready exchange);
  Cycle pass(Moved& moved, const Flow& flow);
  [[nodiscard]] Ports* ports_of(const Moved& moved, const End& end);
  [[nodiscard]] static std::vector<Flow> flows_of(const Moved& moved,
                                                  std::span<const program::StreamList> lists,
                                                  const program::OuterTurn& turn);

  FabricConfig config_;
  bool values_ = true;
  Gathering gathering_;
  std::map<std::uint32_t, std::uint64_t> starts_;                          ///< by exchange
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, Ports> ports_;  ///< node, kind, sends
  /// Transfers of the exchanges that the last advance() moved, for traces.
  std::map<std::pair<Cycle, std::uint32_t>, std::vector<trace::Transfer>> passed_;
};

}  // namespace tessera::fabric
