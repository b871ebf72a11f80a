#pragma once

#include <cstdint>
#include <vector>

namespace tessera {

/// Numbers sorted by time, equal times by number. A linked list: updated entries mostly go to its
/// end or close to it.
class ReadyOrder {
 public:
  using Number = std::uint32_t;

  /// Makes an empty list for numbers below `count`.
  explicit ReadyOrder(Number count) : links_(count + 1), end_(count) {
    links_[end_] = {0, end_, end_, true};
  }

  /// Inserts the number with this time, or changes its time.
  void put(Number number, std::uint64_t time) {
    remove(number);
    Number before = links_[end_].before;
    while (before != end_ && comes_behind(before, time, number)) before = links_[before].before;
    const Number behind = links_[before].behind;
    links_[number] = {time, before, behind, true};
    links_[before].behind = links_[behind].before = number;
  }
  void remove(Number number) {
    Link& its = links_[number];
    if (!its.in) return;
    links_[its.before].behind = its.behind;
    links_[its.behind].before = its.before;
    its.in = false;
  }

  /// The first, or end().
  [[nodiscard]] Number first() const { return links_[end_].behind; }
  [[nodiscard]] Number behind(Number number) const { return links_[number].behind; }
  [[nodiscard]] Number end() const { return end_; }
  [[nodiscard]] std::uint64_t time(Number number) const { return links_[number].time; }

 private:
  struct Link {
    std::uint64_t time = 0;
    Number before = 0, behind = 0;
    bool in = false;
  };
  [[nodiscard]] bool comes_behind(Number other, std::uint64_t time, Number number) const {
    return links_[other].time > time || (links_[other].time == time && other > number);
  }

  std::vector<Link> links_;  ///< by number; the last one closes the ring
  Number end_;
};

}  // namespace tessera
