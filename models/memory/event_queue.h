#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace tessera {

/// Monotone priority queue of events by time: a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan 1990), a
/// few moves per event. Its memory grows and is kept.
template <class Event>
class EventQueue {
 public:
  /// `time` must not precede the last taken event's.
  void push(std::uint64_t time, const Event& event) {
    Bucket& bucket = buckets_[number(time)];
    bucket.first = std::min(bucket.first, time);
    bucket.events.push_back({time, event});
    used_ |= std::uint64_t{1} << number(time);
  }
  /// Time of the first event; UINT64_MAX if there is none.
  [[nodiscard]] std::uint64_t first() const {
    return used_ == 0 ? UINT64_MAX : buckets_[lowest()].first;
  }
  /// Removes all events at first() and calls `take` for each. The queue must not be empty; `take`
  /// must not push.
  template <class Take>
  void take_first(const Take& take) {
    const std::uint32_t lowest_used = lowest();
    Bucket& bucket = buckets_[lowest_used];
    last_ = bucket.first;
    used_ &= ~(std::uint64_t{1} << lowest_used);
    bucket.first = UINT64_MAX;
    moving_.swap(bucket.events);
    for (const Timed& each : moving_) {
      if (each.time == last_)
        take(each.event);
      else
        push(each.time, each.event);
    }
    moving_.clear();
  }

 private:
  struct Timed {
    std::uint64_t time;
    Event event;
  };
  struct Bucket {
    std::uint64_t first = UINT64_MAX;
    std::vector<Timed> events;
  };
  static constexpr std::uint32_t kBuckets = 64;

  /// Bucket number: the highest bit in which `time` differs from last_. Times are below 2^63.
  [[nodiscard]] std::uint32_t number(std::uint64_t time) const {
    return static_cast<std::uint32_t>(std::bit_width(time ^ last_));
  }
  [[nodiscard]] std::uint32_t lowest() const {
    return static_cast<std::uint32_t>(std::countr_zero(used_));
  }

  std::array<Bucket, kBuckets> buckets_;
  std::uint64_t used_ = 0;  ///< one bit per bucket
  std::uint64_t last_ = 0;
  std::vector<Timed> moving_;
};

}  // namespace tessera
