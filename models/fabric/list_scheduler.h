#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/fabric/ports.h"
#include "models/fabric/slots.h"
#include "models/fabric/traffic.h"

/// Schedules when each stream is sent and to which of its receivers, so that no port has more
/// concurrent streams than lanes. A stream arrives at a receiver's port later by the travel time to
/// it. A stream that cannot reach all receivers at once is sent again for the rest (fanout
/// splitting). Streams are placed one after the other, largest first, at the slot where most
/// receivers are free; then slots become cycles and gaps close.
namespace tessera::fabric {

/// A sink that takes a send through one of the two ports of its pair.
struct Reception {
  std::uint32_t sink;  ///< index in Traffic::sinks
  std::uint32_t port;  ///< the tile whose input port is used
};

struct Send {
  std::uint32_t stream;
  std::uint32_t first_reception;
  std::uint32_t receptions;
  std::uint64_t start;  ///< cycle (a slot while the list is being made)
};

struct Schedule {
  std::vector<Send> sends;  ///< by start
  std::vector<Reception> receptions;
  std::uint64_t makespan = 0;  ///< cycles, to the last arrival
  std::uint32_t sharing = 1;   ///< Ports::sharing
};

class ListScheduler {
 public:
  /// `again`: by tile, the number of repeated sends allowed; none: as many as time permits.
  ListScheduler(const Traffic& traffic, const Ports& ports,
                std::optional<std::vector<std::uint32_t>> again = {});
  Schedule run();
  /// As run(), but gives up (makespan UINT64_MAX) once streams only fit so far after `cycles` that
  /// closing gaps cannot bring the end before it.
  Schedule run_within(std::uint64_t cycles);

 private:
  /// A stream at a port: delay after its send, and duration there, in slots.
  struct Arrival {
    std::uint64_t later;
    std::uint32_t length;
  };

  void choose_slot_length(std::uint64_t bound);
  void sum_loads();
  void empty_ports();
  [[nodiscard]] std::vector<std::uint32_t> order() const;
  [[nodiscard]] std::uint64_t cycles(const Stream& stream) const;
  [[nodiscard]] Arrival arrival(std::uint32_t stream, const Sink& sink) const;
  [[nodiscard]] std::uint32_t lanes_out(std::uint32_t tile) const {
    return traffic_.lanes_out(ports_, tile);
  }
  [[nodiscard]] std::uint32_t lanes_in(std::uint32_t tile) const {
    return traffic_.lanes_in(ports_, tile);
  }

  void fetch_ahead(std::span<const std::uint32_t> order) const;
  bool place(std::uint32_t stream);
  bool place_whole(std::uint32_t stream);
  bool place_parts(std::uint32_t stream);
  bool take_again(std::uint32_t source, std::uint32_t length);
  void find_free(std::uint32_t stream);
  std::span<const std::uint64_t> free_slots_of(const Sink& sink, const Arrival& arrival,
                                               std::span<std::uint64_t> out);
  std::span<const std::uint64_t> free_starts(std::uint32_t port, const Arrival& arrival,
                                             std::span<std::uint64_t> out);
  [[nodiscard]] bool has_time(std::uint32_t port, std::uint32_t length) const;
  [[nodiscard]] std::uint32_t take_port(const Sink& sink, std::uint32_t slot, std::uint32_t length);
  void sender_slots(std::uint32_t stream);
  void commit(std::uint32_t stream, std::uint32_t slot, std::span<const std::uint32_t> sinks);

  const Traffic& traffic_;
  const Ports& ports_;
  std::uint64_t slot_cycles_ = 1;
  std::vector<std::uint32_t> slots_;  ///< that each stream takes at its sender
  std::uint64_t horizon_ = 0;         ///< slots usable so far
  std::uint64_t most_ = UINT64_MAX;   ///< slots; a longer horizon is given up
  std::size_t words_ = 0;             ///< in a set of slots up to the horizon
  std::vector<BusySlots> sender_busy_, port_busy_;
  std::vector<std::uint64_t> send_load_;  ///< slots: placed sends, and each waiting stream once
  std::vector<std::uint64_t> port_load_;  ///< slots: placed receptions, and unshared waiting ones
  std::optional<std::vector<std::uint32_t>> again_;  ///< repeated sends left, by tile
  std::vector<std::uint32_t> waiting_;               ///< sinks of the current stream
  /// Free slots of the sender and of each waiting sink: kept by their ports, or in made_rows_.
  std::span<const std::uint64_t> sender_free_;
  std::vector<std::span<const std::uint64_t>> rows_;
  Slots made_rows_, other_port_, shifted_;
  SlotCounter counter_;
  Schedule schedule_;
};

}  // namespace tessera::fabric
