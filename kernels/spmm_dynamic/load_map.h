#pragma once

#include <map>
#include <vector>

#include "kernels/spmm_dynamic/plan.h"

namespace tessera::spmm_dynamic {

/// Where the blocks of all patterns lie, for bounds over many grids: blocks in cells of block rows
/// and columns, and how long rows are.
class LoadMap {
 public:
  explicit LoadMap(const Patterns& patterns);

  /// Blocks of the fullest of x times y partitions, at least, on average over the patterns.
  [[nodiscard]] double fullest(std::uint32_t x, std::uint32_t y) const;
  /// Block rows that have blocks in one of y parts of the columns, if rows lie anywhere.
  [[nodiscard]] double rows(std::uint32_t y);

 private:
  [[nodiscard]] std::uint64_t before(std::uint64_t row, std::uint64_t column) const {
    return before_[row * (columns_ + 1) + column];
  }
  /// The cells that lie within part `i` of `parts` of `all` block rows or columns, in `cells`.
  static Interval within(std::uint64_t i, std::uint32_t parts, std::uint64_t all,
                         std::uint64_t cells) {
    const Interval part = EvenSplit{all, parts}.part(i);
    const std::uint64_t end = part.end * cells / all;
    return {std::min(ceil_div(part.begin * cells, all), end), end};
  }

  double patterns_;
  std::uint64_t block_rows_, block_columns_;
  std::uint64_t rows_, columns_;
  std::vector<std::uint64_t> before_;               ///< blocks in cells above and left of a corner
  std::map<std::uint64_t, std::uint64_t> lengths_;  ///< rows of so many blocks
  std::map<std::uint32_t, double> rows_in_;         ///< by parts of the columns
};

}  // namespace tessera::spmm_dynamic
