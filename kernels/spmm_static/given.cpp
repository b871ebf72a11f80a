#include "kernels/spmm_static/given.h"

#include <algorithm>

#include "sim/data/element.h"

namespace tessera::spmm_static {

namespace {

/// Where value `number` of a block as dealt stands in the block by rows of W.
std::size_t place_in_block(const Shape& shape, std::size_t number) {
  const std::size_t side = shape.block;
  if (shape.halves() == Halves::outputs) {
    const std::size_t half = number / (side * side / 2);
    const std::size_t input = number % (side * side / 2) / (side / 2);
    return (half * (side / 2) + number % (side / 2)) * side + input;
  }
  return number % side * side + number / side;
}

}  // namespace

void fill_x(const Partition& partition, const data::DenseOperand& x, std::uint64_t first,
            std::span<std::byte> into) {
  const Shape& shape = partition.shape;
  const std::uint64_t depth = shape.x_depth();
  const std::uint64_t count = into.size() / shape.bytes();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = first + i;
    const std::uint64_t column = at / depth % partition.columns;
    const std::uint64_t row = at / depth / partition.columns * depth + at % depth;
    data::store_element(shape.type, into, i, x.element(row, column));
  }
}

void fill_x_rows(const Partition& partition, const data::DenseOperand& x, std::uint64_t first,
                 std::span<std::byte> into) {
  const std::uint64_t count = into.size() / partition.shape.bytes();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t row = (first + i) / partition.columns;
    const std::uint64_t column = (first + i) % partition.columns;
    data::store_element(partition.shape.type, into, i, x.element(row, column));
  }
}

void fill_values(const Partition& partition, const sparse::BlockMatrix& w, std::uint64_t first,
                 std::span<std::byte> into) {
  const Shape& shape = partition.shape;
  const Deal& deal = partition.deal;
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
                          static_cast<double>(values[place_in_block(shape, v)]));
    }
  }
}

}  // namespace tessera::spmm_static
