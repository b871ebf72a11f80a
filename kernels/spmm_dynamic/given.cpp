#include "kernels/spmm_dynamic/given.h"

#include <cstring>

#include "sim/data/element.h"

namespace tessera::spmm_dynamic {

namespace {

/// A block as the weight store takes it: [half of outputs][input][output].
void write_block(const Shape& shape, std::span<const float> block, std::span<std::byte> into) {
  const std::uint32_t side = shape.block;
  const std::uint32_t chunk = shape.result_chunk();
  for (std::uint32_t i = 0; i < side; ++i) {
    for (std::uint32_t j = 0; j < side; ++j) {
      const std::size_t at = (std::size_t{i / chunk} * side + j) * chunk + i % chunk;
      data::store_element(shape.dtype, into, at, block[std::size_t{i} * side + j]);
    }
  }
}

void write_values(const PoolShape& pool_shape, const Pool& pool, const sparse::BlockMatrix& w,
                  std::span<std::byte> values) {
  const Shape& shape = pool_shape.shape;
  std::uint32_t last_unit = UINT32_MAX;
  for_each_unit(pool_shape, pool, [&](std::uint32_t unit, std::uint64_t e) {
    const std::span<std::byte> into =
        values.subspan(std::size_t{unit} * shape.unit_bytes(), shape.unit_bytes());
    const bool second = unit == last_unit;
    last_unit = unit;
    if (shape.block == 1) {
      data::store_element(shape.dtype, into, second ? 1 : 0, w.value[e]);
    } else {
      write_block(shape, w.values(e), into);
    }
  });
}

std::vector<std::byte> pool_bytes(const Given& given, std::uint32_t run, std::uint32_t x,
                                  std::uint32_t y) {
  const Buffers sizes(given.problem, given.pool);
  const sparse::BlockMatrix& w = given.patterns[run];
  const Packing& packing = given.packings[run];
  std::vector<std::byte> bytes(sizes.pool);
  const std::vector<std::uint16_t> lists = pool_lists(w, given.pool, packing, x, y);
  std::memcpy(bytes.data(), lists.data(), sizeof(lists.front()) * lists.size());
  const Pool& pool = packing.pools[x + std::size_t{y} * given.pool.grid.x];
  if (!given.pool.shape.values)
    write_values(given.pool, pool, w, std::span(bytes).subspan(sizes.meta));
  return bytes;
}

}  // namespace

std::function<void(std::span<std::byte>, std::uint32_t)> bucket(const Given& given, std::uint32_t x,
                                                                std::uint32_t y, std::uint32_t z) {
  return [given, x, y, z](std::span<std::byte> into, std::uint32_t run) {
    const std::vector<std::byte> pool = pool_bytes(given, run, x, y);
    std::memcpy(into.data(), pool.data() + std::size_t{z} * into.size(), into.size());
  };
}

std::function<void(std::span<std::byte>)> dense_words(const Given& given,
                                                      const data::DenseOperand& operand,
                                                      gemm::Interval blocks,
                                                      std::uint64_t first_column,
                                                      gemm::Interval part) {
  const Shape& shape = given.pool.shape;
  const Piece piece{given.pool.grid.columns, shape.x_chunk()};
  const std::uint64_t first_row = blocks.begin * shape.block;
  const std::uint64_t end_row = blocks.end * shape.block;
  const std::uint64_t begin = part.begin * kWord / shape.element_bytes();
  return [&operand, piece, first_row, end_row, first_column, begin,
          type = shape.dtype](std::span<std::byte> into) {
    for (std::size_t i = 0; i < into.size() / data::element_bytes(type); ++i) {
      const Piece::Place place = piece.place(begin + i);
      const std::uint64_t row = first_row + place.row;
      const double value = row < end_row ? operand.element(row, first_column + place.column) : 0.0;
      data::store_element(type, into, i, value);
    }
  };
}

std::function<void(std::span<std::byte>)> rows_of(const Given& given,
                                                  const data::DenseOperand& operand,
                                                  std::uint64_t first) {
  const std::uint64_t width = std::uint64_t{given.pool.grid.columns} * given.pool.grid.z;
  return [&operand, width, first, type = given.pool.shape.dtype](std::span<std::byte> into) {
    for (std::size_t i = 0; i < into.size() / data::element_bytes(type); ++i) {
      const std::uint64_t at = first + i;
      data::store_element(type, into, i, operand.element(at / width, at % width));
    }
  };
}

}  // namespace tessera::spmm_dynamic
