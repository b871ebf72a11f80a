#pragma once

#include <string>
#include <vector>

#include "kernels/fft/digits.h"

namespace tessera::fft {

/// One pass of a Stockham transform of `length` rows, twiddles before sums: legs `stride` rows
/// apart come in, legs length / radix rows apart go out, in order after the last pass.
struct Pass {
  std::uint32_t length;
  std::uint32_t radix;
  std::uint32_t stride;  ///< the radices behind, multiplied

  [[nodiscard]] std::uint32_t groups() const { return length / (radix * stride); }
  /// The first pass, whose twiddles are 1.
  [[nodiscard]] bool first() const { return groups() == 1; }
  /// Name of its tile code.
  [[nodiscard]] std::string codelet() const;
};

/// The passes of a phase; `first`: the first phase, with which radices begin.
std::vector<Pass> passes_of(const Plan& plan, std::uint32_t phase, std::uint32_t first = 0);

/// Transpositions between phases: pairs of rows become units, whose columns go where a list says.
struct RowPairs {
  struct Entry {
    std::uint32_t offset;  ///< bytes, of the unit of column 0
    std::uint32_t stride;  ///< bytes from column to column
  };
  std::vector<Entry> entries;
  std::uint64_t columns;
};

/// After a phase: for each taker its part of the digit, [columns][part].
RowPairs pairs_for_swap(const Digits& digits, std::uint32_t tile, std::uint32_t phase);
/// Before the first phase: arrays of a batch, which lie behind each other, become columns.
RowPairs pairs_for_batch(const Digits& digits, std::uint32_t tile);
/// After the last phase: rows of the result's fastest digit become columns. No entries where they
/// lie so already.
RowPairs pairs_for_result(const Digits& digits, std::uint32_t tile);

}  // namespace tessera::fft
