#include "models/fabric/list_scheduler.h"

#include <algorithm>
#include <numeric>

#include "models/fabric/close_gaps.h"
#include "models/fabric/counted_sort.h"
#include "sim/base/errors.h"

namespace tessera::fabric {
namespace {

/// Target number of slots of a schedule whose streams have no common unit of time.
constexpr std::uint64_t kMostSlots = 2048;

}  // namespace

ListScheduler::ListScheduler(const Traffic& traffic, const Ports& ports,
                             std::optional<std::vector<std::uint32_t>> again)
    : traffic_(traffic),
      ports_(ports),
      send_load_(traffic.tiles),
      port_load_(traffic.tiles),
      again_(std::move(again)) {
  schedule_.sharing = ports.sharing;
}

std::uint64_t ListScheduler::cycles(const Stream& stream) const {
  return ports_.cycles(stream.bytes);
}

ListScheduler::Arrival ListScheduler::arrival(std::uint32_t stream, const Sink& sink) const {
  if (ports_.cycles_per_hop == 0) return {0, slots_[stream]};
  const Stream& in_hand = traffic_.streams[stream];
  const std::uint64_t way = ports_.way_cycles(in_hand.source, sink.tile);
  return {way / slot_cycles_,
          static_cast<std::uint32_t>(ceil_div(way % slot_cycles_ + cycles(in_hand), slot_cycles_))};
}

Schedule ListScheduler::run() { return run_within(UINT64_MAX); }

Schedule ListScheduler::run_within(std::uint64_t cycles) {
  if (traffic_.streams.empty()) return {};
  choose_slot_length(traffic_bound(traffic_, ports_).count());
  sum_loads();
  constexpr std::uint64_t kClosed = 64;  // closing gaps saves less than 1/64
  most_ = (cycles + std::min(cycles / kClosed, UINT64_MAX - cycles)) / slot_cycles_;
  empty_ports();
  schedule_.sends.reserve(traffic_.streams.size());
  schedule_.receptions.reserve(traffic_.sinks.size());
  const std::vector<std::uint32_t> order = this->order();
  for (std::size_t i = 0; i < order.size(); ++i) {
    fetch_ahead(std::span(order).subspan(i));
    if (!place(order[i])) {
      schedule_.makespan = UINT64_MAX;
      return std::move(schedule_);
    }
  }
  for (Send& send : schedule_.sends) send.start *= slot_cycles_;
  close_gaps(traffic_, ports_, schedule_);
  return std::move(schedule_);
}

/// Prefetches data of streams to come: there are many, stored in another order than they are
/// placed.
void ListScheduler::fetch_ahead(std::span<const std::uint32_t> order) const {
  constexpr std::size_t kStream = 24, kSink = 16;  // prefetch distances, in streams
  if (order.size() > kStream) __builtin_prefetch(&traffic_.streams[order[kStream]]);
  if (order.size() > kSink)
    __builtin_prefetch(&traffic_.sinks[traffic_.streams[order[kSink]].first_sink]);
}

/// A slot is the common unit of all durations, or longer if that would be too many slots.
void ListScheduler::choose_slot_length(std::uint64_t bound) {
  // A travel time that is not a multiple of a slot takes one more slot at every port.
  std::uint64_t unit = ports_.cycles_per_hop;
  std::uint64_t total = 0, before = 0;
  slots_.reserve(traffic_.streams.size());
  for (const Stream& stream : traffic_.streams) {
    const std::uint64_t its = cycles(stream);
    slots_.push_back(static_cast<std::uint32_t>(its));
    total += its;
    if (its != before) unit = std::gcd(unit, its);  // skips a gcd: neighbours are often equal
    before = its;
  }
  const std::uint64_t mean = total / traffic_.streams.size();
  // Rounding up costs half a slot a stream until the gaps close, a sixteenth of the mean.
  const std::uint64_t coarse = std::max(bound / kMostSlots, std::uint64_t{1});
  slot_cycles_ = round_up(std::min(std::max(mean / 8, std::uint64_t{1}), coarse), unit);
  for (std::uint32_t& length : slots_)
    length = static_cast<std::uint32_t>(ceil_div<std::uint64_t>(length, slot_cycles_));
}

/// Sums the loads and sets the horizon to the slots that the busiest sender or port needs.
void ListScheduler::sum_loads() {
  std::vector<std::uint64_t> shared(traffic_.tiles / 2);
  for (std::uint32_t number = 0; number < traffic_.streams.size(); ++number) {
    const Stream& stream = traffic_.streams[number];
    const std::uint32_t length = slots_[number];
    send_load_[stream.source] += length;
    horizon_ = std::max<std::uint64_t>(horizon_, length);
    for (std::uint32_t i = 0; i < stream.sinks; ++i) {
      const Sink sink = traffic_.sinks[stream.first_sink + i];
      (sink.shared ? shared[sink.tile / 2] : port_load_[sink.tile]) += length;
    }
  }
  for (std::uint32_t tile = 0; tile < traffic_.tiles; ++tile) {
    const std::uint64_t pair =
        shared[tile / 2] == 0 ? 0 : port_load_[tile] + port_load_[tile ^ 1] + shared[tile / 2];
    const auto least = [](std::uint64_t load, std::uint64_t lanes) {
      return load == 0 ? 0 : ceil_div(load, lanes);
    };
    horizon_ = std::max({horizon_, least(send_load_[tile], lanes_out(tile)),
                         least(port_load_[tile], lanes_in(tile)),
                         least(pair, std::uint64_t{2} * lanes_in(tile))});
  }
}

void ListScheduler::empty_ports() {
  sender_busy_.reserve(traffic_.tiles);
  port_busy_.reserve(traffic_.tiles);
  const std::size_t words = horizon_ / 64 + 1;
  for (std::uint32_t tile = 0; tile < traffic_.tiles; ++tile) {
    sender_busy_.emplace_back(lanes_out(tile), words);
    port_busy_.emplace_back(lanes_in(tile), words);
  }
}

/// Orders streams by duration x receivers, largest first; equals by distance, so that a pattern
/// that is the same on every tile fills each slot with one permutation.
std::vector<std::uint32_t> ListScheduler::order() const {
  const auto work = [this](std::uint32_t stream) {
    return std::uint64_t{slots_[stream]} * traffic_.streams[stream].sinks;
  };
  struct Key {
    std::uint64_t less_work;  ///< below the largest
    std::uint32_t distance;
    std::uint32_t stream;
  };
  std::vector<Key> keys;
  keys.reserve(traffic_.streams.size());
  std::uint64_t most = 0;
  for (std::uint32_t i = 0; i < traffic_.streams.size(); ++i) most = std::max(most, work(i));
  for (std::uint32_t i = 0; i < traffic_.streams.size(); ++i) {
    const Stream& stream = traffic_.streams[i];
    const std::uint32_t first = traffic_.sinks[stream.first_sink].tile;
    const std::uint32_t distance = (first + traffic_.tiles - stream.source) % traffic_.tiles;
    keys.push_back({most - work(i), distance, i});
  }
  sort_counted(keys, [](const Key& key) { return std::uint64_t{key.distance}; });
  sort_counted(keys, [](const Key& key) { return key.less_work; });
  std::vector<std::uint32_t> order;
  order.reserve(keys.size());
  for (const Key& key : keys) order.push_back(key.stream);
  return order;
}

/// Places a stream; false if the horizon would exceed most_.
bool ListScheduler::place(std::uint32_t stream) {
  const Stream& in_hand = traffic_.streams[stream];
  waiting_.resize(in_hand.sinks);
  std::iota(waiting_.begin(), waiting_.end(), in_hand.first_sink);
  while (true) {
    words_ = round_up(horizon_, std::uint64_t{kSlotBlock}) / 64;
    find_free(stream);
    if (place_whole(stream) || place_parts(stream)) return true;
    horizon_ += std::max<std::uint64_t>(ceil_div(horizon_, std::uint64_t{128}), 1);
    if (horizon_ > most_) return false;
    check(horizon_ < (std::uint64_t{1} << 31), "fabric: no place for stream {}", stream);
  }
}

void ListScheduler::sender_slots(std::uint32_t stream) {
  sender_free_ =
      sender_busy_[traffic_.streams[stream].source].starts(slots_[stream], horizon_, words_);
}

void ListScheduler::find_free(std::uint32_t stream) {
  sender_slots(stream);
  made_rows_.resize(waiting_.size() * words_);
  rows_.clear();
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    const Sink& sink = traffic_.sinks[waiting_[i]];
    rows_.push_back(free_slots_of(sink, arrival(stream, sink),
                                  std::span(made_rows_).subspan(i * words_, words_)));
  }
}

/// True if a shared stream leaves the port enough time for streams that have no other port.
bool ListScheduler::has_time(std::uint32_t port, std::uint32_t length) const {
  return port_load_[port] + length <= horizon_ * lanes_in(port);
}

/// The slots at which a stream can be sent so that the port is free when it arrives: the port's
/// cached set, or computed in `out`.
std::span<const std::uint64_t> ListScheduler::free_starts(std::uint32_t port,
                                                          const Arrival& arrival,
                                                          std::span<std::uint64_t> out) {
  // An arrival may fall within a slot: the stream may end one slot after the horizon.
  const std::uint64_t reach = horizon_ + arrival.later + (ports_.cycles_per_hop > 0 ? 1 : 0);
  if (arrival.later == 0) return port_busy_[port].starts(arrival.length, reach, words_);
  shifted_.resize(out.size() + arrival.later / 64 + 1);
  port_busy_[port].free_slots(shifted_, reach);
  keep_runs(shifted_, arrival.length);
  move_earlier(shifted_, arrival.later, out);
  return out;
}

std::span<const std::uint64_t> ListScheduler::free_slots_of(const Sink& sink,
                                                            const Arrival& arrival,
                                                            std::span<std::uint64_t> out) {
  const std::uint32_t tile = sink.tile;
  if (!sink.shared) return free_starts(tile, arrival, out);
  std::ranges::fill(out, 0);
  other_port_.resize(words_);
  for (const std::uint32_t port : {tile, tile ^ 1}) {
    if (!has_time(port, arrival.length)) continue;
    const auto starts = free_starts(port, arrival, other_port_);
    for (std::size_t i = 0; i < words_; ++i) out[i] |= starts[i];
  }
  return out;
}

bool ListScheduler::place_whole(std::uint32_t stream) {
  const auto slot = first_common_slot(sender_free_, rows_);
  if (!slot) return false;
  commit(stream, *slot, waiting_);
  return true;
}

/// If a sender may repeat a stream and has time for it, reserves that time and returns true.
bool ListScheduler::take_again(std::uint32_t source, std::uint32_t length) {
  if (send_load_[source] + length > horizon_ * lanes_out(source)) return false;
  if (again_ && (*again_)[source] == 0) return false;
  if (again_) --(*again_)[source];
  send_load_[source] += length;
  return true;
}

/// Repeatedly sends to as many waiting sinks at once as possible, while the sender may repeat the
/// bytes. Sinks without a slot stay in waiting_.
bool ListScheduler::place_parts(std::uint32_t stream) {
  const Stream& in_hand = traffic_.streams[stream];
  const std::uint32_t length = slots_[stream];
  counter_.reset(words_, static_cast<std::uint32_t>(waiting_.size()));
  for (std::size_t i = 0; i < waiting_.size(); ++i) counter_.add(rows_[i]);
  std::vector<std::uint32_t> takers;
  while (!waiting_.empty()) {
    const auto slot = counter_.best(sender_free_);
    if (!slot) return false;
    takers.clear();
    std::size_t left = 0;
    const auto takes = [&](std::size_t i) { return contains(rows_[i], *slot); };
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      if (takes(i)) takers.push_back(waiting_[i]);
    }
    if (takers.size() < waiting_.size() && !take_again(in_hand.source, length)) return false;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      if (takes(i)) {
        counter_.subtract(rows_[i]);
      } else {
        rows_[left] = rows_[i];
        waiting_[left++] = waiting_[i];
      }
    }
    rows_.resize(left);
    waiting_.resize(left);
    commit(stream, *slot, takers);
    sender_slots(stream);
  }
  return true;
}

/// The port that a shared stream takes: of two free ones, the less loaded.
std::uint32_t ListScheduler::take_port(const Sink& sink, std::uint32_t slot, std::uint32_t length) {
  const std::uint32_t tile = sink.tile;
  if (!sink.shared) return tile;
  const auto is_free = [&](std::uint32_t port) {
    return has_time(port, length) && port_busy_[port].is_free(slot, length);
  };
  const std::uint32_t first = port_load_[tile ^ 1] < port_load_[tile] ? tile ^ 1 : tile;
  const std::uint32_t port = is_free(first) ? first : first ^ 1;
  port_load_[port] += length;
  return port;
}

void ListScheduler::commit(std::uint32_t stream, std::uint32_t slot,
                           std::span<const std::uint32_t> sinks) {
  const Stream& in_hand = traffic_.streams[stream];
  schedule_.sends.push_back({stream, static_cast<std::uint32_t>(schedule_.receptions.size()),
                             static_cast<std::uint32_t>(sinks.size()), slot});
  sender_busy_[in_hand.source].occupy(slot, slots_[stream]);
  for (const std::uint32_t number : sinks) {
    const Sink& sink = traffic_.sinks[number];
    const Arrival at = arrival(stream, sink);
    const auto there = static_cast<std::uint32_t>(slot + at.later);
    const std::uint32_t port = take_port(sink, there, at.length);
    port_busy_[port].occupy(there, at.length);
    schedule_.receptions.push_back({number, port});
  }
}

}  // namespace tessera::fabric
