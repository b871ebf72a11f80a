#include "models/fabric/close_gaps.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/base/errors.h"

namespace tessera::fabric {
namespace {

constexpr std::uint32_t kNobody = ~std::uint32_t{0};

/// Who was last on each lane of each port.
class LaneBook {
 public:
  /// `lanes(port)`: how many a port has.
  template <class Lanes>
  LaneBook(std::uint32_t ports, const Lanes& lanes) {
    begin_.reserve(ports + std::size_t{1});
    begin_.push_back(0);
    for (std::uint32_t port = 0; port < ports; ++port)
      begin_.push_back(begin_.back() + lanes(port));
    last_.resize(begin_.back());
  }

  /// Enters `who`, later than all who are in the book, on the lane that became free last; returns
  /// who was there before.
  std::uint32_t enter(std::uint32_t port, std::uint64_t start, std::uint64_t end,
                      std::uint32_t who) {
    Last* const end_of_port = last_.data() + begin_[port + std::size_t{1}];
    Last* best = nullptr;
    for (Last* lane = last_.data() + begin_[port]; lane != end_of_port; ++lane) {
      if (lane->end <= start && (best == nullptr || best->end < lane->end)) best = lane;
    }
    check(best != nullptr, "fabric: port {} has no lane free at cycle {}", port, start);
    best->end = end;
    return std::exchange(best->who, who);
  }

 private:
  struct Last {
    std::uint64_t end = 0;
    std::uint32_t who = kNobody;
  };
  std::vector<std::size_t> begin_;  ///< of each port in last_, and the end
  std::vector<Last> last_;
};

/// Equal starts stay in their order. Starts are few beside the sends: they are counted.
void sort_by_start(std::vector<Send>& sends) {
  std::uint64_t last = 0;
  for (const Send& send : sends) last = std::max(last, send.start);
  constexpr std::uint64_t kMostStarts = 4;  // a send: more take longer to count than to compare
  if (last / kMostStarts > sends.size()) {
    std::stable_sort(sends.begin(), sends.end(),
                     [](const Send& a, const Send& b) { return a.start < b.start; });
    return;
  }
  std::vector<std::uint32_t> next(last + 2);
  for (const Send& send : sends) ++next[send.start + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Send> sorted(sends.size());
  for (const Send& send : sends) sorted[next[send.start]++] = send;
  sends = std::move(sorted);
}

class GapCloser {
 public:
  GapCloser(const Traffic& traffic, const Ports& ports, Schedule& schedule)
      : traffic_(traffic),
        ports_(ports),
        sends_(schedule.sends),
        receptions_(schedule.receptions),
        send_ends_(sends_.size()),
        ends_(receptions_.size()),
        before_(receptions_.size()) {}

  /// Returns the last end.
  std::uint64_t close() {
    sort_by_start(sends_);
    plan();
    LaneBook senders(traffic_.tiles,
                     [this](std::uint32_t tile) { return traffic_.lanes_out(ports_, tile); });
    std::uint64_t last = 0;
    for (std::uint32_t i = 0; i < sends_.size(); ++i) {
      last = std::max(last, move(sends_[i], i, senders));
    }
    sort_by_start(sends_);
    return last;
  }

 private:
  [[nodiscard]] const Stream& stream_of(const Send& send) const {
    return traffic_.streams[send.stream];
  }
  [[nodiscard]] std::uint64_t cycles(const Send& send) const {
    return ports_.cycles(stream_of(send).bytes);
  }
  [[nodiscard]] std::uint64_t way(const Send& send, std::uint32_t reception) const {
    const Sink& sink = traffic_.sinks[receptions_[reception].sink];
    return ports_.way_cycles(stream_of(send).source, traffic_.receivers[sink.receiver].tile);
  }

  /// Who is before whom at each port, by when streams arrive there.
  void plan() {
    struct Planned {
      std::uint64_t start;
      std::uint64_t end;
      std::uint32_t reception;
    };
    std::vector<Planned> arrivals;
    arrivals.reserve(receptions_.size());
    for (const Send& send : sends_) {
      for (std::uint32_t k = 0; k < send.receptions; ++k) {
        const std::uint32_t reception = send.first_reception + k;
        const std::uint64_t start = send.start + way(send, reception);
        arrivals.push_back({start, start + cycles(send), reception});
      }
    }
    if (ports_.cycles_per_hop > 0) {  // otherwise in the order of the sends, as they stand
      std::stable_sort(arrivals.begin(), arrivals.end(),
                       [](const Planned& a, const Planned& b) { return a.start < b.start; });
    }
    LaneBook book(traffic_.tiles,
                  [this](std::uint32_t tile) { return traffic_.lanes_in(ports_, tile); });
    for (const Planned& it : arrivals) {
      before_[it.reception] =
          book.enter(receptions_[it.reception].port, it.start, it.end, it.reception);
      ends_[it.reception] = it.end;
    }
  }

  /// As early as what comes before it ends: now for what has been moved, else as planned.
  std::uint64_t move(Send& send, std::uint32_t number, LaneBook& senders) {
    const std::uint64_t length = cycles(send);
    const std::uint32_t previous =
        senders.enter(stream_of(send).source, send.start, send.start + length, number);
    std::uint64_t start = previous == kNobody ? 0 : send_ends_[previous];
    for (std::uint32_t h = send.first_reception; h < send.first_reception + send.receptions; ++h) {
      if (before_[h] == kNobody) continue;
      const std::uint64_t later = way(send, h);
      start = std::max(start, std::max(ends_[before_[h]], later) - later);
    }
    send.start = start;
    send_ends_[number] = start + length;
    std::uint64_t last = 0;
    for (std::uint32_t h = send.first_reception; h < send.first_reception + send.receptions; ++h) {
      ends_[h] = start + way(send, h) + length;
      last = std::max(last, ends_[h]);
    }
    return last;
  }

  const Traffic& traffic_;
  const Ports& ports_;
  std::vector<Send>& sends_;
  const std::vector<Reception>& receptions_;
  std::vector<std::uint64_t> send_ends_;
  std::vector<std::uint64_t> ends_;    ///< of receptions: as planned, then as moved
  std::vector<std::uint32_t> before_;  ///< the reception before on the lane
};

}  // namespace

void close_gaps(const Traffic& traffic, const Ports& ports, Schedule& schedule) {
  schedule.makespan = GapCloser(traffic, ports, schedule).close();
}

}  // namespace tessera::fabric
