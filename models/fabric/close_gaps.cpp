#include "models/fabric/close_gaps.h"

#include <algorithm>
#include <utility>

#include "models/fabric/counted_sort.h"
#include "sim/base/errors.h"

namespace tessera::fabric {
namespace {

constexpr std::uint32_t kNobody = ~std::uint32_t{0};

/// The latest user of each lane of each port.
class LaneBook {
 public:
  /// `lanes(port)`: the port's number of lanes.
  template <class Lanes>
  LaneBook(std::uint32_t ports, const Lanes& lanes) {
    begin_.reserve(ports + std::size_t{1});
    begin_.push_back(0);
    for (std::uint32_t port = 0; port < ports; ++port)
      begin_.push_back(begin_.back() + lanes(port));
    last_.resize(begin_.back());
  }

  /// Enters `who`, later than all earlier entries, on the free lane that became free last; returns
  /// that lane's previous user.
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
  std::vector<std::size_t> begin_;  ///< by port: its first lane in last_; and the end
  std::vector<Last> last_;
};

std::uint64_t start_of(const Send& send) { return send.start; }

class GapCloser {
 public:
  GapCloser(const Traffic& traffic, const Ports& ports, Schedule& schedule)
      : traffic_(traffic),
        ports_(ports),
        sends_(schedule.sends),
        receptions_(schedule.receptions),
        sent_(sends_.size()),
        ends_(receptions_.size()),
        senders_(traffic.tiles, [&](std::uint32_t tile) { return traffic.lanes_out(ports, tile); }),
        receivers_(traffic.tiles,
                   [&](std::uint32_t tile) { return traffic.lanes_in(ports, tile); }) {}

  /// Closes the gaps; returns the last end.
  std::uint64_t close() {
    sort_counted(sends_, start_of);
    read_streams();
    if (has_ways()) plan();
    std::uint64_t last = 0;
    for (std::uint32_t i = 0; i < sends_.size(); ++i) last = std::max(last, move(i));
    sort_counted(sends_, start_of);
    return last;
  }

 private:
  /// A send's stream data, read once: streams are stored in another order.
  struct Sent {
    std::uint32_t source;
    std::uint32_t cycles;
    std::uint64_t end;  ///< as moved
  };

  /// True if distance takes time; otherwise streams arrive in the order of their sends.
  [[nodiscard]] bool has_ways() const { return ports_.cycles_per_hop > 0; }
  [[nodiscard]] std::uint64_t way(std::uint32_t source, std::uint32_t reception) const {
    if (!has_ways()) return 0;
    return ports_.way_cycles(source, traffic_.sinks[receptions_[reception].sink].tile);
  }

  /// Reads each send's stream and puts receptions in the order of their sends.
  void read_streams() {
    std::vector<Reception> in_order;
    in_order.reserve(receptions_.size());
    constexpr std::size_t kAhead = 16;  // prefetch distance, in sends
    for (std::size_t i = 0; i < sends_.size(); ++i) {
      if (i + kAhead < sends_.size()) {
        __builtin_prefetch(&traffic_.streams[sends_[i + kAhead].stream]);
        __builtin_prefetch(&receptions_[sends_[i + kAhead].first_reception]);
      }
      Send& send = sends_[i];
      const Stream& stream = traffic_.streams[send.stream];
      sent_[i] = {stream.source, static_cast<std::uint32_t>(ports_.cycles(stream.bytes)), 0};
      const auto first = receptions_.begin() + send.first_reception;
      send.first_reception = static_cast<std::uint32_t>(in_order.size());
      in_order.insert(in_order.end(), first, first + send.receptions);
    }
    receptions_ = std::move(in_order);
  }

  /// Enters a reception as planned; returns the previous one on its lane.
  std::uint32_t enter(std::uint32_t reception, std::uint64_t start, std::uint64_t cycles) {
    return receivers_.enter(receptions_[reception].port, start, start + cycles, reception);
  }

  /// Finds the planned predecessor of each reception at its port, by arrival.
  void plan() {
    struct Planned {
      std::uint64_t start;
      std::uint64_t cycles;
      std::uint32_t reception;
    };
    std::vector<Planned> arrivals;
    arrivals.reserve(receptions_.size());
    for (std::size_t i = 0; i < sends_.size(); ++i) {
      const Send& send = sends_[i];
      for (std::uint32_t k = 0; k < send.receptions; ++k) {
        const std::uint32_t reception = send.first_reception + k;
        const std::uint64_t start = send.start + way(sent_[i].source, reception);
        arrivals.push_back({start, sent_[i].cycles, reception});
      }
    }
    std::stable_sort(arrivals.begin(), arrivals.end(),
                     [](const Planned& a, const Planned& b) { return a.start < b.start; });
    before_.resize(receptions_.size());
    for (const Planned& it : arrivals) {
      before_[it.reception] = enter(it.reception, it.start, it.cycles);
      ends_[it.reception] = it.start + it.cycles;
    }
  }

  /// Moves a send as early as its predecessors allow (moved ones: their new end; others: as
  /// planned); returns its end.
  std::uint64_t move(std::uint32_t number) {
    Send& send = sends_[number];
    const std::uint32_t source = sent_[number].source;
    const std::uint64_t length = sent_[number].cycles;
    const std::uint32_t previous = senders_.enter(source, send.start, send.start + length, number);
    std::uint64_t start = previous == kNobody ? 0 : sent_[previous].end;
    for (std::uint32_t h = send.first_reception; h < send.first_reception + send.receptions; ++h) {
      const std::uint32_t before = has_ways() ? before_[h] : enter(h, send.start, length);
      if (before == kNobody) continue;
      const std::uint64_t later = way(source, h);
      start = std::max(start, std::max(ends_[before], later) - later);
    }
    send.start = start;
    sent_[number].end = start + length;
    std::uint64_t last = 0;
    for (std::uint32_t h = send.first_reception; h < send.first_reception + send.receptions; ++h) {
      ends_[h] = start + way(source, h) + length;
      last = std::max(last, ends_[h]);
    }
    return last;
  }

  const Traffic& traffic_;
  const Ports& ports_;
  std::vector<Send>& sends_;
  std::vector<Reception>& receptions_;
  std::vector<Sent> sent_;
  std::vector<std::uint64_t> ends_;    ///< by reception: as planned, then as moved
  std::vector<std::uint32_t> before_;  ///< with ways: the reception before on the lane
  LaneBook senders_, receivers_;
};

}  // namespace

void close_gaps(const Traffic& traffic, const Ports& ports, Schedule& schedule) {
  schedule.makespan = GapCloser(traffic, ports, schedule).close();
}

}  // namespace tessera::fabric
