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

/// Transfers between tiles and the channels outside: a DMA a tile, the ways, the channels.
///
/// Timing, in chip cycles. A tile's transfers are served in order of (start, list): each issues its
/// requests from start + setup_cycles on, when those of the one before it are issued; one a cycle,
/// while fewer than `outstanding` are under way. A read reaches its channel way_cycles later; from
/// way_cycles after the channel's first data on its bytes pass the DMA's port, at
/// dma_bytes_per_cycle and behind what came to the port before them, and it is done when they have,
/// but not before way_cycles after the channel's last data. A write's bytes pass the port from its
/// issue on, then it takes way_cycles to the channel, and is done way_cycles after its last data. A
/// transfer is done when its last request is. Channels are DramChannels, or what `target` stands
/// for: all of its data pass at once, in the cycle of its answer. In one cycle requests end first,
/// then others are issued, then they arrive at channels by tile and order of issue, then channels
/// choose. Leaves out: what requests and answers without data take of the ways, and buffers of the
/// ways.
class OuterTraffic {
 public:
  struct Transfer {
    TileId tile;
    Cycle start;
    Address list;                              ///< orders transfers that a tile starts in a cycle
    std::vector<program::OuterEntry> entries;  ///< one turn's, as RequestCutter takes them
    std::span<std::byte> sram;                 ///< the tile's; not used without a store
    std::uint32_t exchange = 0;                ///< the caller's
  };
  struct Ended {
    Transfer transfer;
    Cycle begin;  ///< its first request was issued
    Cycle done;
    Bytes read;
    Bytes written;
  };

  /// `store` and `target` outlive it; `tiles` have a DMA each. With a model of channels the store
  /// holds the bytes, without one `target` does. Where that is null no bytes move, and what stands
  /// for the target answers in the cycle in which a request arrives.
  OuterTraffic(const MachineConfig& machine, std::uint32_t tiles, const OuterStore* store,
               OuterTarget* target = nullptr)
      : OuterTraffic(machine.external, machine.clock_ghz, tiles, store, target) {}
  OuterTraffic(const ExternalConfig& external, double clock_ghz, std::uint32_t tiles,
               const OuterStore* store, OuterTarget* target = nullptr);

  /// From now on no bytes move.
  void leave_values() { values_ = false; }
  /// Starts not before what advance() was told last.
  void start(Transfer transfer);
  /// No transfer ends before it, unless it is started later; nothing if none is under way.
  [[nodiscard]] std::optional<Cycle> next() const;
  /// All that ends up to and including `to`, by cycle, tile and list. A request's bytes are read
  /// from the store when it is done; a transfer's are written when the transfer is. A target is
  /// sent what arrives in cycle `to`, which must not lie behind next().
  std::vector<Ended> advance(Cycle to);
  /// As advance(), up to the first cycle in which something ends, at most to `to`. Its callers do
  /// not ask for next() any more: no bounds are kept from then on.
  std::vector<Ended> advance_to_end(Cycle to);
  [[nodiscard]] bool is_idle() const { return active_ == 0; }
  /// The target answers the request that it was sent under this number; its data pass in `cycle`,
  /// which is not before what advance() was told last.
  void answer(std::uint32_t request, Cycle cycle);
  /// The tile that issued the request; valid until it is done.
  [[nodiscard]] TileId tile_of(std::uint32_t request) const {
    return TileId{requests_[request].tile};
  }
  [[nodiscard]] const RequestCutter::Piece& piece_of(std::uint32_t request) const {
    return requests_[request].piece;
  }

  /// The channels of one address space after the other.
  [[nodiscard]] std::span<const DramChannel> channels() const { return channels_; }
  /// Done and all requests of a transfer under way; {0, 0} if it is not.
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
    std::uint64_t unfinished = 0;  ///< those not issued among them
    std::uint64_t unchosen = 0;    ///< issued, not chosen by a channel
    std::uint64_t unknown = 0;     ///< issued, and when they end is not known
    std::uint64_t known_end = 0;   ///< the last known end of a request
    std::uint64_t begin = kNever;
    std::uint64_t bound = 0;  ///< it does not end earlier
    Bytes read;
    Bytes written;
    bool active = false;
  };
  struct Request {
    std::uint64_t number;  ///< by issue of its tile
    std::uint64_t last;    ///< earliest end, of a read whose data are on their way
    RequestCutter::Piece piece;
    std::uint32_t flight;
    std::uint32_t tile;
  };
  struct Dma {
    std::vector<std::uint32_t> flights;  ///< with requests to issue, in order
    std::uint64_t port_free = 0;
    std::uint64_t issue_from = 0;  ///< not two in one cycle
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
  bool bounded_;  ///< somebody asks for next(): channels have no other way to know
  std::vector<std::uint32_t> free_requests_;
  std::vector<std::vector<std::byte>> data_;  ///< by request, of those that a target was sent
  EventQueue<Event> events_;                  ///< behind now_
  std::array<std::vector<std::uint32_t>, kPhases> due_;  ///< at now_
  std::uint64_t now_ = 0;
  std::uint64_t latency_;    ///< cycles at least from a request's arrival at a channel to its data
  std::uint64_t steps_ = 0;  ///< since all bounds were made anew
  std::size_t active_ = 0;   ///< flights
  std::vector<Bound> bounds_;  ///< a heap, the earliest first; may hold former ones
};

}  // namespace tessera
