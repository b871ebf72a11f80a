#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace tessera::test {

/// A pairwise covering array: rows of levels, one for each factor, that contain every pair of two
/// factors' levels that `allowed` permits. Greedy; the same seed gives the same rows.
class CoveringArray {
 public:
  using Row = std::vector<std::size_t>;
  static constexpr std::size_t kOpen = ~std::size_t{0};  ///< a factor without a level yet

  /// `allowed(row)` also takes rows with open factors: false if the chosen levels contradict.
  template <class Allowed>
  static std::vector<Row> make(const std::vector<std::size_t>& levels, Allowed allowed,
                               unsigned seed) {
    CoveringArray array(levels, seed);
    array.list_pairs(allowed);
    std::vector<Row> rows;
    while (!array.open_.empty()) rows.push_back(array.next_row(allowed));
    return rows;
  }

 private:
  using Choice = std::pair<std::size_t, std::size_t>;  ///< factor, level
  using Pair = std::pair<Choice, Choice>;

  CoveringArray(std::vector<std::size_t> levels, unsigned seed)
      : levels_(std::move(levels)), random_(seed) {}

  template <class Allowed>
  void list_pairs(Allowed allowed) {
    for (std::size_t i = 0; i < levels_.size(); ++i)
      for (std::size_t j = i + 1; j < levels_.size(); ++j)
        for (std::size_t a = 0; a < levels_[i]; ++a)
          for (std::size_t b = 0; b < levels_[j]; ++b) {
            Row row(levels_.size(), kOpen);
            row[i] = a;
            row[j] = b;
            if (allowed(row)) open_.insert({{i, a}, {j, b}});
          }
  }

  /// The row that covers most open pairs, of several that each begin with an open pair.
  template <class Allowed>
  Row next_row(Allowed allowed) {
    constexpr int kTries = 20;
    Row best;
    std::size_t most = 0;
    while (most == 0)
      for (int i = 0; i < kTries; ++i) {
        Row row = grow(allowed);
        const std::size_t covered = row.empty() ? 0 : count(row);
        if (covered > most) {
          most = covered;
          best = row;
        }
      }
    for (std::size_t i = 0; i < best.size(); ++i)
      for (std::size_t j = i + 1; j < best.size(); ++j) open_.erase({{i, best[i]}, {j, best[j]}});
    return best;
  }

  template <class Allowed>
  Row grow(Allowed allowed) {
    Row row(levels_.size(), kOpen);
    const auto first =
        std::next(open_.begin(), static_cast<std::ptrdiff_t>(random_() % open_.size()));
    row[first->first.first] = first->first.second;
    row[first->second.first] = first->second.second;
    std::vector<std::size_t> order(levels_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random_);
    for (const std::size_t factor : order) {
      if (row[factor] != kOpen) continue;
      if (!choose(row, factor, allowed)) return {};
    }
    return row;
  }

  /// Sets the factor's level that covers most open pairs with the row's; false if none is allowed.
  template <class Allowed>
  bool choose(Row& row, std::size_t factor, Allowed allowed) {
    std::size_t best = kOpen;
    std::size_t most = 0;
    const std::size_t start = random_() % levels_[factor];
    for (std::size_t i = 0; i < levels_[factor]; ++i) {
      row[factor] = (start + i) % levels_[factor];
      if (!allowed(row)) continue;
      const std::size_t covered = count(row);
      if (best == kOpen || covered > most) {
        best = row[factor];
        most = covered;
      }
    }
    row[factor] = best;
    return best != kOpen;
  }

  [[nodiscard]] std::size_t count(const Row& row) const {
    std::size_t covered = 0;
    for (std::size_t i = 0; i < row.size(); ++i)
      for (std::size_t j = i + 1; j < row.size(); ++j)
        if (row[i] != kOpen && row[j] != kOpen) covered += open_.count({{i, row[i]}, {j, row[j]}});
    return covered;
  }

  std::vector<std::size_t> levels_;
  std::mt19937 random_;
  std::set<Pair> open_;
};

}  // namespace tessera::test
