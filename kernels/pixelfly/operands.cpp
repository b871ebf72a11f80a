#include "kernels/pixelfly/operands.h"

namespace tessera::pixelfly {

using sparse::BlockMatrix;

namespace {

/// Appends block (row, column) of `at(i, j)`, i and j counted in elements.
template <class At>
void append_block(BlockMatrix& w, std::uint64_t row, std::uint64_t column, const At& at) {
  for (std::uint64_t i = row * w.block; i < (row + 1) * w.block; ++i) {
    for (std::uint64_t j = column * w.block; j < (column + 1) * w.block; ++j)
      w.value.push_back(static_cast<float>(at(i, j)));
  }
}

}  // namespace

BlockMatrix beside(const BlockMatrix& s, const data::DenseOperand& left, std::uint32_t rows_with) {
  const std::uint32_t before = s.block_columns();
  const auto rank = static_cast<std::uint32_t>(left.columns());
  const std::uint32_t more = ceil_div(rank, s.block);
  BlockMatrix w{s.rows, before * s.block + rank, s.block, {0}, {}, {}, s.nonzeros};
  w.nonzeros += std::uint64_t{s.rows} * rank;
  for (std::uint32_t row = 0; row < s.block_rows(); ++row) {
    for (std::uint64_t e = s.row_begin[row]; e < s.row_begin[row + 1]; ++e) {
      w.column.push_back(s.column[e]);
      const auto values = s.values(e);
      w.value.insert(w.value.end(), values.begin(), values.end());
    }
    for (std::uint32_t column = 0; row < rows_with && column < more; ++column) {
      w.column.push_back(before + column);
      append_block(w, row, column,
                   [&](std::uint64_t i, std::uint64_t j) { return left.element(i, j); });
    }
    w.row_begin.push_back(w.column.size());
  }
  return w;
}

BlockMatrix transposed_blocks(const data::DenseOperand& right, std::uint32_t block,
                              std::uint32_t rows) {
  const auto columns = static_cast<std::uint32_t>(right.rows());
  const auto rank = static_cast<std::uint32_t>(right.columns());
  BlockMatrix w{rows, columns, block, {0}, {}, {}, right.rows() * rank};
  for (std::uint32_t row = 0; row < w.block_rows(); ++row) {
    for (std::uint32_t column = 0; row * block < rank && column < w.block_columns(); ++column) {
      w.column.push_back(column);
      append_block(w, row, column,
                   [&](std::uint64_t i, std::uint64_t j) { return right.element(j, i); });
    }
    w.row_begin.push_back(w.column.size());
  }
  return w;
}

BlockMatrix all_blocks(const data::DenseOperand& left, std::uint32_t block) {
  BlockMatrix none{static_cast<std::uint32_t>(left.rows()), 0, block, {}, {}, {}, 0};
  none.row_begin.assign(none.block_rows() + std::size_t{1}, 0);
  return beside(none, left);
}

Chain make_chain(const Layer& layer, Pass pass, std::uint32_t depth) {
  const bool forward = pass == Pass::forward;
  const std::uint32_t rows = round_up(layer.rank(), layer.s.block);
  return {transposed_blocks(forward ? layer.v : layer.u, depth, rows),
          forward ? beside(layer.s, layer.u) : beside(sparse::transposed(layer.s), layer.v),
          forward ? "Y" : "dX", forward ? "Z" : "T", layer.gamma};
}

BlockMatrix Chain::scaled_outer(program::Type type) const {
  BlockMatrix w = outer;
  if (!gamma) return w;
  const std::size_t area = std::size_t{w.block} * w.block;
  for (std::size_t i = 0; i < w.value.size(); ++i)
    w.value[i] = static_cast<float>(scaled(static_cast<double>(w.value[i]),
                                           factor_of(factor(w.column[i / area]), *gamma), type));
  return w;
}

}  // namespace tessera::pixelfly
