#include <vector>

#include "kernels/spmm_tilewise/bit_exact.h"
#include "kernels/spmm_tilewise/spmm_tilewise.h"

namespace tessera::spmm_tilewise {

namespace {

/// The transpose of what is left of W, so that C^T = W^T A^T is a sparse product.
sparse::BlockMatrix kept_transposed(const DenseWeights& w, const TilePattern& pattern) {
  std::vector<data::Entry> entries;
  const auto add = [&](std::uint32_t row, std::uint32_t column) {
    entries.push_back({column, row, static_cast<double>(w.at(row, column))});
  };
  for (const ColumnTile& tile : pattern.tiles) {
    for (const std::uint32_t column : tile.columns) {
      for (const std::uint32_t row : tile.rows) add(row, column);
    }
  }
  for (const Single& single : pattern.overlay) add(single.row, single.column);
  return sparse::to_blocks(data::from_entries(w.columns, w.rows, std::move(entries)), 1);
}

}  // namespace

CheckResult SpmmTilewise::check(const TensorReader& tensors, const CheckRequest& request) const {
  HostThreads threads(request.threads);
  const std::vector<float> columns_of_c =
      tensors.floats("C", threads, TensorReader::Order::transposed);
  // The overlay is added up in the type of C, element by element.
  const bool singles = !pattern_.overlay.empty();
  const kernels::Rounding rounding = kernels::rounding_of(
      problem_.block.input, singles ? problem_.block.input : problem_.block.partial,
      singles || !problem_.block.on_unit() ? 1 : problem_.block.depth, plan_.cuts);
  return sparse::check_product(kept_transposed(w_, pattern_), kernels::rows_of(a_, threads, true),
                               problem_.m, columns_of_c, rounding, request,
                               exact_rows(problem_, pattern_, plan_, w_storage_, w_));
}

}  // namespace tessera::spmm_tilewise
