#include "kernels/sparse/operand/block_matrix.h"

#include <algorithm>

#include "kernels/sparse/operand/pattern.h"
#include "sim/base/ranges.h"

namespace tessera::sparse {

namespace {

/// The block columns with entries in rows [first, last) of `w`, ascending.
std::vector<std::uint32_t> columns_of(const data::SparseMatrix& w, std::uint32_t first,
                                      std::uint32_t last, std::uint32_t block) {
  std::vector<std::uint32_t> columns;
  for (std::uint64_t e = w.row_begin[first]; e < w.row_begin[last]; ++e) {
    columns.push_back(w.column[e] / block);
  }
  return sorted_once(std::move(columns));
}

}  // namespace

std::uint64_t count_blocks(const data::SparseMatrix& w, std::uint32_t block) {
  if (block == 1) return w.entries();
  std::uint64_t blocks = 0;
  for (std::uint32_t first = 0; first < w.rows; first += block) {
    blocks += columns_of(w, first, std::min(first + block, w.rows), block).size();
  }
  return blocks;
}

std::vector<std::uint32_t> filled_rows(const BlockMatrix& w) {
  std::vector<std::uint32_t> rows;
  const auto begin = w.row_begin.begin();
  // Galloping search for the next row that is not empty.
  for (auto at = begin; *at < w.blocks();) {
    const std::uint64_t first = *at;
    std::ptrdiff_t step = 1;
    while (w.row_begin.end() - at > step && at[step] == first) step *= 2;
    const auto last = w.row_begin.end() - at > step ? at + step + 1 : w.row_begin.end();
    at = std::upper_bound(at + step / 2, last, first);
    rows.push_back(static_cast<std::uint32_t>(at - begin - 1));
  }
  return rows;
}

BlockMatrix to_blocks(const data::SparseMatrix& w, std::uint32_t block) {
  BlockMatrix blocks{w.rows, w.columns, block, {0}, {}, {}, w.entries(), w.rounded};
  for (std::uint32_t first = 0; first < w.rows; first += block) {
    const std::uint32_t last = std::min(first + block, w.rows);
    const std::vector<std::uint32_t> columns = columns_of(w, first, last, block);
    const std::uint64_t begin = blocks.column.size();
    blocks.column.insert(blocks.column.end(), columns.begin(), columns.end());
    blocks.row_begin.push_back(blocks.column.size());
    blocks.value.resize(blocks.column.size() * block * block);
    for (std::uint32_t row = first; row < last; ++row) {
      std::size_t at = 0;
      for (std::uint64_t e = w.row_begin[row]; e < w.row_begin[row + 1]; ++e) {
        while (columns[at] < w.column[e] / block) ++at;
        const std::size_t inside = (row - first) * std::size_t{block} + w.column[e] % block;
        blocks.value[(begin + at) * block * block + inside] = static_cast<float>(w.value[e]);
      }
    }
  }
  return blocks;
}

std::vector<BlockMatrix> row_parts(const BlockMatrix& w, std::uint32_t parts) {
  std::vector<BlockMatrix> all;
  const std::uint64_t rows = w.block_rows();
  const std::uint64_t area = std::uint64_t{w.block} * w.block;
  for (std::uint64_t part = 0; part < parts; ++part) {
    const std::uint64_t first = rows * part / parts;
    const std::uint64_t last = rows * (part + 1) / parts;
    const std::uint64_t begin = w.row_begin[first];
    const std::uint64_t end = w.row_begin[last];
    const auto height = static_cast<std::uint32_t>(std::min<std::uint64_t>(last * w.block, w.rows) -
                                                   first * w.block);
    BlockMatrix one{height, w.columns, w.block, {}, {}, {}, 0, 0};
    for (std::uint64_t row = first; row <= last; ++row)
      one.row_begin.push_back(w.row_begin[row] - begin);
    one.column = slice(w.column, begin, end);
    one.value = slice(w.value, begin * area, end * area);
    all.push_back(std::move(one));
  }
  return all;
}

BlockMatrix transposed(const BlockMatrix& w) {
  BlockMatrix t{w.columns, w.rows, w.block, {}, {}, {}, w.nonzeros, w.rounded};
  t.row_begin.assign(t.block_rows() + std::size_t{1}, 0);
  for (const std::uint32_t column : w.column) ++t.row_begin[column + std::size_t{1}];
  for (std::size_t i = 1; i < t.row_begin.size(); ++i) t.row_begin[i] += t.row_begin[i - 1];
  t.column.resize(w.column.size());
  t.value.resize(w.value.size());
  std::vector<std::uint64_t> next(t.row_begin.begin(), t.row_begin.end() - 1);
  const std::size_t side = w.block;
  w.for_blocks([&](std::uint32_t row, std::uint64_t e) {
    const std::uint64_t to = next[w.column[e]]++;
    t.column[to] = row;
    for (std::size_t i = 0; i < side * side; ++i)
      t.value[to * side * side + i % side * side + i / side] = w.value[e * side * side + i];
  });
  return t;
}

BlockMatrix pruned_to_blocks(const BlockMatrix& w, double density) {
  const std::uint64_t places = std::uint64_t{w.block_rows()} * w.block_columns();
  const std::uint64_t wanted = share_of(places, density);
  if (wanted >= w.blocks()) return w;
  std::vector<double> squares(w.blocks());
  for (std::uint64_t e = 0; e < w.blocks(); ++e)
    for (const float value : w.values(e))
      squares[e] += static_cast<double>(value) * static_cast<double>(value);
  const std::vector<bool> kept = largest(squares, wanted);
  BlockMatrix pruned{w.rows, w.columns, w.block, {0}, {}, {}, 0, w.rounded};
  for (std::uint32_t row = 0; row < w.block_rows(); ++row) {
    for (std::uint64_t e = w.row_begin[row]; e < w.row_begin[row + 1]; ++e)
      if (kept[e]) pruned.append(w.column[e], w.values(e));
    pruned.end_row();
  }
  const auto zeros = std::count(pruned.value.begin(), pruned.value.end(), 0.0F);
  pruned.nonzeros = pruned.value.size() - static_cast<std::uint64_t>(zeros);
  return pruned;
}

}  // namespace tessera::sparse
