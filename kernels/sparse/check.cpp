#include "kernels/sparse/check.h"

#include <algorithm>

#include "kernels/sparse/operand/sources.h"

namespace tessera::sparse {

namespace {

constexpr std::uint64_t kRowStep = 64;   // of so many rows one is compared where not all are
constexpr std::uint64_t kSegment = 256;  // columns whose signed sum is checked

void read_row(const BlockMatrix& w, std::uint64_t row, std::vector<kernels::Term>& terms) {
  terms.clear();
  const std::uint64_t block_row = row / w.block;
  for (std::uint64_t e = w.row_begin[block_row]; e < w.row_begin[block_row + 1]; ++e) {
    const auto values = w.values(e).subspan(row % w.block * w.block, w.block);
    for (std::uint32_t i = 0; i < w.block; ++i) {
      const std::uint32_t column = w.column[e] * w.block + i;
      if (column < w.columns) terms.push_back({column, values[i]});
    }
  }
}

}  // namespace

void add_block(const kernels::OrderedSums& ordered, const BlockMatrix& w, std::uint64_t block,
               std::uint32_t row, std::span<const float> x, std::size_t n, std::uint32_t begin,
               std::span<float> sums) {
  const std::uint32_t first = w.column[block] * w.block;
  const std::uint32_t inside = std::min(w.block, w.columns - first);
  ordered.add_rows(w.values(block).subspan(std::size_t{row} * w.block, inside),
                   &x[first * n + begin], n, sums);
}

CheckResult check_product(const BlockMatrix& w, std::span<const float> x, std::uint32_t n,
                          std::span<const float> y, const kernels::Rounding& rounding,
                          const CheckRequest& request, const ExactRow& exact) {
  const kernels::Product product{
      w.rows,
      w.columns,
      n,
      x,
      y,
      rounding,
      [&w](std::uint64_t row, std::vector<kernels::Term>& terms) { read_row(w, row, terms); },
      [&](std::uint64_t row, kernels::Interval /*columns: all*/, std::span<float> of_row) {
        exact(static_cast<std::uint32_t>(row), x, of_row);
      }};
  kernels::Checked checked = kernels::row_check(product, {"Y", rounding.type, rounding.partials},
                                                {request.seed, kSignStream, kSegment});
  checked.flops = 2 * w.value.size() * n;
  checked.sample = kernels::sample_lines(w.rows, kRowStep, request.seed, kSampleStream);
  HostThreads threads(request.threads);
  return kernels::check(checked, request, threads);
}

}  // namespace tessera::sparse
