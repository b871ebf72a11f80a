#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/memory/channel_map.h"
#include "models/memory/dram_channel.h"
#include "models/memory/event_queue.h"
#include "models/memory/outer_store.h"
#include "models/memory/outer_target.h"
#include "models/memory/request_cutter.h"
#include "sim/machine/machine_config.h"

namespace tessera {

/// Transfers between tiles and external channels: one DMA per tile, the path latency, the channels.
///
/// Timing, in chip cycles. A tile's transfers are served in order of (start, list): each issues its
/// requests from start + setup_cycles on, after the previous transfer's: one per cycle, while fewer
/// than `outstanding` are in flight. A read reaches its channel way_cycles later. Its bytes pass
/// the DMA's port from way_cycles after the channel's first data, at dma_bytes_per_cycle and after
/// earlier arrivals; the read is done when they have passed, at the earliest way_cycles after the
/// channel's last data. A write's bytes pass the port from its issue on; the write then takes
/// way_cycles to the channel and is done way_cycles after its last data. A transfer is done when
/// its last request is. Channels are DramChannels or `target`, whose data pass all at once in the
/// cycle of its answer. Within a cycle requests end, then others are issued, then requests arrive
/// at channels by tile and order of issue, then channels choose. Leaves out: path bandwidth for
/// requests and answers without data; buffers on the path.
class OuterTraffic {
 public:
  struct Transfer {
    TileId tile;
    Cycle start;
    Address list;                              ///< orders transfers a tile starts in one cycle
    std::vector<program::OuterEntry> entries;  ///< one turn's, for RequestCutter
    std::span<std::byte> sram;                 ///< the tile's; unused without a store
    std::uint32_t exchange = 0;                ///< the caller's
  };
  struct Ended {
    Transfer transfer;
    Cycle begin;  ///< issue of its first request
    Cycle done;
    Bytes read;
    Bytes written;
  };

  /// `store` and `target` outlive this; each of `tiles` tiles has a DMA. With modelled channels the
  /// store holds the bytes, otherwise `target` does. If that is null no bytes move, and requests
  /// are answered in the cycle of their arrival.
  OuterTraffic(const MachineConfig& machine, std::uint32_t tiles, const OuterStore* store,
               OuterTarget* target = nullptr)
      : OuterTraffic(machine.external, machine.clock_ghz, tiles, store, target) {}
  OuterTraffic(const ExternalConfig& external, double clock_ghz, std::uint32_t tiles,
               const OuterStore* store, OuterTarget* target = nullptr);

  /// From now on no bytes move.
  void leave_values() { values_ = false; }
  /// `transfer` must not start before the last advance().
  void start(Transfer transfer);
  /// Lower bound on the next end of a started transfer; nothing if none is in flight.
  [[nodiscard]] std::optional<Cycle> next() const;
  /// Transfers that end up to and including `to`, by cycle, tile and list. A request's bytes are
  /// read from the store when the request is done; a transfer's writes happen when the transfer is.
  /// Requests that arrive in cycle `to` are sent to the target; `to` must not exceed next().
  std::vector<Ended> advance(Cycle to);
  /// As advance(), but stops at the first cycle in which a transfer ends, at most at `to`. Drops
  /// the bounds: next() may not be called afterwards.
  std::vector<Ended> advance_to_end(Cycle to);
  [[nodiscard]] bool is_idle() const { return active_ == 0; }
  /// Records the target's answer to request number `request`; its data pass in `cycle`, which must
  /// not precede the last advance().
  void answer(std::uint32_t request, Cycle cycle);
  /// The tile that issued the request; valid until it is done.
  [[nodiscard]] TileId tile_of(std::uint32_t request) const {
    return TileId{requests_[request].tile};
  }
  [[nodiscard]] const RequestCutter::Piece& piece_of(std::uint32_t request) const {
    return requests_[request].piece;
  }

  /// The channels, grouped by address space.
  [[nodiscard]] std::span<const DramChannel> channels() const { return channels_; }
  /// Finished and total requests of a transfer in flight; {0, 0} if it is not in flight.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> progress(TileId tile, Address list) const;

 private:
  enum Phase : std::uint8_t { end, finish, issue, arrive, choose, pass };
  static constexpr std::size_t kPhases = 6;
  static constexpr std::uint64_t kNever = UINT64_MAX;

  struct Event {
    std::uint32_t who;  ///< flight, request, tile, request, channel, request
    Phase phase;
  };
  struct Flight {
    Transfer transfer;
    RequestCutter cutter;
    RequestCutter::Sum unissued;
    std::uint64_t requests = 0;
    std::uint64_t unfinished = 0;  ///< including those not issued
    std::uint64_t unchosen = 0;    ///< issued, not chosen by a channel
    std::uint64_t unknown = 0;     ///< issued, with unknown end
    std::uint64_t known_end = 0;   ///< the last known end of a request
    std::uint64_t begin = kNever;
    std::uint64_t bound = 0;  ///< lower bound on its end
    Bytes read;
    Bytes written;
    bool active = false;
  };
  struct Request {
    std::uint64_t number;  ///< issue order on its tile
    std::uint64_t last;    ///< earliest end of a read with data in transit
    RequestCutter::Piece piece;
    std::uint32_t flight;
    std::uint32_t tile;
  };
  struct Dma {
    std::vector<std::uint32_t> flights;  ///< with requests to issue, in order
    std::uint64_t port_free = 0;
    std::uint64_t issue_from = 0;  ///< one issue per cycle
    std::uint64_t issue_at = kNever;
    std::uint64_t issued = 0;
    std::uint32_t under_way = 0;
  };
  using Bound = std::pair<std::uint64_t, std::uint32_t>;  ///< cycle, flight

  std::vector<Ended> advance(Cycle to, bool to_end);
  void push(std::uint64_t cycle, Phase phase, std::uint32_t who);
  void finish_requests();
  void end_flights(std::vector<Ended>& ended);
  void go_on();
  void plan_issue(std::uint32_t tile);
  void issue_one(std::uint32_t tile);
  void issue_next(std::uint32_t tile);
  void arrive_all();
  void arrive_at_channel(std::uint32_t request);
  void arrive_at_target(std::uint32_t request);
  void choose_requests(std::uint32_t channel);
  void pass_port(std::uint32_t request);
  void end_known(Flight& flight, std::uint64_t cycle);
  void sort_requests(std::vector<std::uint32_t>& requests) const;
  std::uint32_t new_flight();
  std::uint32_t new_request();
  void copy(const Transfer& transfer, const RequestCutter::Piece& piece) const;
  void copy_answer(std::uint32_t request) const;
  [[nodiscard]] std::uint64_t pass_cycles(std::uint64_t bytes) const;
  [[nodiscard]] std::uint64_t bound(const Flight& flight) const;
  void bind(std::uint32_t flight);
  void bind_all();
  void refresh_bounds();

  ExternalConfig config_;
  ChannelMap map_;
  const OuterStore* store_;
  OuterTarget* target_;
  ClockCrossing clocks_;
  std::vector<DramChannel> channels_;
  std::vector<Dma> dmas_;
  std::vector<Flight> flights_;
  std::vector<std::uint32_t> free_flights_;
  std::vector<Request> requests_;
  bool values_ = true;
  bool bounded_;  ///< next() is in use: bounds are kept
  std::vector<std::uint32_t> free_requests_;
  std::vector<std::vector<std::byte>> data_;             ///< by request sent to a target
  EventQueue<Event> events_;                             ///< after now_
  std::array<std::vector<std::uint32_t>, kPhases> due_;  ///< at now_
  std::uint64_t now_ = 0;
  std::uint64_t latency_;      ///< least cycles from a request's arrival at a channel to its data
  std::uint64_t steps_ = 0;    ///< since all bounds were recomputed
  std::size_t active_ = 0;     ///< flights
  std::vector<Bound> bounds_;  ///< min-heap by cycle; may hold outdated ones
};

}  // namespace tessera
