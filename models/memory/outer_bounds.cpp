#include <algorithm>
#include <functional>

#include "models/memory/outer_traffic.h"

namespace tessera {

/// Lower bound on the transfer's end, independent of others: from its port, its outstanding
/// requests and the total channel rate.
std::uint64_t OuterTraffic::bound(const Flight& flight) const {
  if (flight.unfinished == 0) return flight.known_end;
  const std::uint64_t requests = flight.unissued.requests;
  const std::uint64_t back = config_.way_cycles + latency_ + 1;
  if (requests == 0) {
    if (flight.unknown == 0) return flight.known_end;
    return std::max(flight.known_end, now_ + (flight.unchosen > 0 ? back : 1));
  }
  const std::uint64_t begin = std::max(now_, flight.transfer.start.count() + config_.setup_cycles);
  const std::uint64_t round = config_.way_cycles + back;
  const std::uint64_t read = flight.unissued.read_bytes;
  const std::uint64_t written = flight.unissued.written_bytes;
  const std::uint64_t bus_clocks =
      (read + written) / (std::uint64_t{config_.dram.bytes_per_clock} * config_.channels);
  return std::max(
      {flight.known_end, begin + requests - 1 + round,
       begin + ceil_div<std::uint64_t>(requests, config_.outstanding) * round,
       begin + round - 1 + pass_cycles(std::max(read, written)),
       begin + pass_cycles(read + written),
       begin + 2 * std::uint64_t{config_.way_cycles} + clocks_.cycle_of(bus_clocks).count()});
}

void OuterTraffic::bind(std::uint32_t number) {
  flights_[number].bound = bound(flights_[number]);
  bounds_.emplace_back(flights_[number].bound, number);
  std::ranges::push_heap(bounds_, std::greater{});
}

void OuterTraffic::bind_all() {
  bounds_.clear();
  for (std::uint32_t i = 0; i < flights_.size(); ++i) {
    if (!flights_[i].active) continue;
    flights_[i].bound = bound(flights_[i]);
    bounds_.emplace_back(flights_[i].bound, i);
  }
  std::ranges::make_heap(bounds_, std::greater{});
  steps_ = 0;
}

/// Recomputes bounds that time has reached: they stay valid but are useless. Recomputes all if
/// enough steps have passed to pay for it.
void OuterTraffic::refresh_bounds() {
  while (!bounds_.empty()) {
    const auto [cycle, number] = bounds_.front();
    const bool former = !flights_[number].active || flights_[number].bound != cycle;
    if (!former && cycle > now_) return;
    if (!former && steps_ >= active_) {
      bind_all();
      continue;
    }
    std::ranges::pop_heap(bounds_, std::greater{});
    bounds_.pop_back();
    if (!former) bind(number);
  }
}

}  // namespace tessera
