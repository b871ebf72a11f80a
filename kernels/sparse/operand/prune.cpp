#include <algorithm>

#include "kernels/sparse/operand/block_matrix.h"
#include "kernels/sparse/operand/pattern.h"

namespace tessera::sparse {

namespace {

/// Which blocks stay.
std::vector<bool> largest_blocks(const BlockMatrix& w, std::uint64_t wanted) {
  std::vector<double> squares(w.blocks());
  for (std::uint64_t e = 0; e < w.blocks(); ++e) {
    for (const float value : w.values(e)) {
      squares[e] += static_cast<double>(value) * static_cast<double>(value);
    }
  }
  return largest(squares, wanted);
}

}  // namespace

BlockMatrix pruned_to_blocks(const BlockMatrix& w, double density) {
  const std::uint64_t places = std::uint64_t{w.block_rows()} * w.block_columns();
  const std::uint64_t wanted = share_of(places, density);
  if (wanted >= w.blocks()) return w;
  const std::vector<bool> kept = largest_blocks(w, wanted);
  BlockMatrix pruned{w.rows, w.columns, w.block, {0}, {}, {}, 0, w.rounded};
  for (std::uint32_t row = 0; row < w.block_rows(); ++row) {
    for (std::uint64_t e = w.row_begin[row]; e < w.row_begin[row + 1]; ++e) {
      if (!kept[e]) continue;
      const auto values = w.values(e);
      pruned.column.push_back(w.column[e]);
      pruned.value.insert(pruned.value.end(), values.begin(), values.end());
    }
    pruned.row_begin.push_back(pruned.column.size());
  }
  const auto zeros = std::count(pruned.value.begin(), pruned.value.end(), 0.0F);
  pruned.nonzeros = pruned.value.size() - static_cast<std::uint64_t>(zeros);
  return pruned;
}

}  // namespace tessera::sparse
