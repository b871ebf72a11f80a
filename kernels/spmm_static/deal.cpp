#include "kernels/spmm_static/deal.h"

#include <algorithm>

namespace tessera::spmm_static {

std::vector<std::uint32_t> blocks_by_column(const sparse::BlockMatrix& w) {
  std::vector<std::uint32_t> count(w.block_columns(), 0);
  for (const std::uint32_t column : w.column) ++count[column];
  return count;
}

Bands cut_bands(const std::vector<std::uint32_t>& by_column, std::uint32_t wanted) {
  std::uint64_t total = 0;
  for (const std::uint32_t count : by_column) total += count;
  const std::uint64_t part = ceil_div<std::uint64_t>(total, wanted);
  Bands bands{{0}, {}};
  std::uint32_t column = 0;
  for (std::uint32_t band = 0; band < wanted; ++band) {
    std::uint64_t count = 0;
    while (count < part && column < by_column.size()) count += by_column[column++];
    if (count == 0) break;
    bands.column.push_back(column);
    bands.blocks.push_back(count);
  }
  return bands;
}

Deal deal_blocks(const sparse::BlockMatrix& w, Bands bands, bool even_rows) {
  Deal deal;
  const std::uint64_t area = std::uint64_t{w.block} * w.block;
  const std::vector<std::uint32_t> rows = sparse::filled_rows(w);
  std::vector<std::uint64_t> next;  // block of each of them
  next.reserve(rows.size());
  for (const std::uint32_t row : rows) next.push_back(w.row_begin[row]);
  std::uint64_t values = 0;
  deal.band_begin.push_back(0);
  for (std::uint32_t band = 0; band < bands.count(); ++band) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::uint64_t& e = next[i]; e < w.row_begin[rows[i] + 1]; ++e) {
        if (w.column[e] >= bands.column[band + 1]) break;
        deal.row.push_back(rows[i]);
        deal.column.push_back(w.column[e]);
        deal.source.push_back(e);
        deal.value_begin.push_back(values);
        values += area;
      }
      if (even_rows) values += values % 2;
    }
    deal.band_begin.push_back(deal.row.size());
  }
  deal.value_begin.push_back(values);
  deal.bands = std::move(bands);
  return deal;
}

void fill_values(const Deal& deal, const sparse::BlockMatrix& w, const sparse::Shape& shape,
                 std::uint64_t first, std::span<std::byte> into) {
  const std::uint64_t area = std::uint64_t{shape.block} * shape.block;
  const std::uint64_t end = first + into.size() / shape.bytes();
  const auto after = std::upper_bound(deal.value_begin.begin(), deal.value_begin.end() - 1, first);
  auto e = static_cast<std::uint64_t>(after - deal.value_begin.begin());
  for (e -= e > 0 ? 1 : 0; e < deal.blocks() && deal.value_begin[e] < end; ++e) {
    const std::span<const float> values = w.values(deal.source[e]);
    for (std::uint64_t v = 0; v < area; ++v) {
      const std::uint64_t at = deal.value_begin[e] + v;
      if (at < first || at >= end) continue;
      data::store_element(shape.type, into, at - first,
                          static_cast<double>(values[shape.place_in_block(v)]));
    }
  }
}

}  // namespace tessera::spmm_static
