#include <algorithm>
#include <cstring>

#include "kernels/spmm_dynamic/plan.h"
#include "sim/base/errors.h"

namespace tessera::spmm_dynamic {

namespace {

class GroupWriter {
 public:
  GroupWriter(const sparse::BlockMatrix& w, const PoolShape& shape, const SubGroup& group,
              std::vector<std::uint16_t>& words)
      : w_(w),
        shape_(shape),
        group_(group),
        words_(words),
        first_row_(
            EvenSplit{w.block_rows(), shape.grid.x}.part(group.partition % shape.grid.x).begin),
        first_column_(
            EvenSplit{w.block_columns(), shape.grid.y}.part(group.partition / shape.grid.x).begin) {
  }

  void write(std::uint64_t value_bytes) {
    put(1 + group_.partition);
    put(group_.meta_words);
    put(value_bytes & 0xffff);
    put(value_bytes >> 16);
    if (!shape_.shape.in_blocks()) {
      write_parts();
    } else {
      put(group_.rows.size());
    }
    for (const RowPart& row : group_.rows) write_row(row);
  }

 private:
  void put(std::uint64_t word) {
    check(word <= 0xffff, "spmm_dynamic: {} in a list of 16-bit words", word);
    words_.push_back(static_cast<std::uint16_t>(word));
  }

  /// Words from one block row to the next of X, or of results.
  [[nodiscard]] std::uint32_t step(std::uint32_t bytes) const {
    return shape_.shape.block * shape_.grid.columns * bytes / kWord;
  }

  void write_row(const RowPart& row) {
    const Shape& shape = shape_.shape;
    put((row.row - first_row_) * step(shape.gradient ? shape.bytes() : shape.partial_bytes()));
    put(units_of(shape_, row));
    const std::uint64_t padded =
        row.begin + std::uint64_t{units_of(shape_, row)} * unit_blocks(shape_.shape);
    for (std::uint64_t e = row.begin; e < padded; ++e)
      put((w_.column[std::min(e, row.end - 1)] - first_column_) * step(shape.bytes()));
  }

  void write_parts() {
    const WorkerParts parts = worker_parts(shape_, group_);
    const std::uint32_t best = parts.pass_parts;
    const auto row_parts = static_cast<std::uint32_t>(parts.row_parts());
    const std::vector<std::size_t>& at = parts.cuts;
    std::uint32_t list = shape_.group_head_words();
    std::uint32_t unit = 0;
    const std::uint32_t unit_words = unit_bytes(shape_.shape) / kUnitWord;
    for (std::uint32_t i = 0; i < row_parts; ++i) {
      for (std::uint32_t j = 0; j < best; ++j) {
        const std::uint32_t first = shape_.passes() * j / best;
        const std::uint32_t passes = shape_.passes() * (j + 1) / best - first;
        put(passes == 0 ? 0 : at[i + 1] - at[i]);
        put(list);
        put(std::uint64_t{unit} * unit_words);
        put(first);
        put(passes);
      }
      for (std::size_t row = at[i]; row < at[i + 1]; ++row) {
        list += 2 + units_of(shape_, group_.rows[row]) * unit_blocks(shape_.shape);
        unit += units_of(shape_, group_.rows[row]);
      }
    }
    for (std::uint32_t i = row_parts * best; i < shape_.contexts; ++i) {
      for (int word = 0; word < static_cast<int>(kWorkerWords); ++word) put(0);
    }
  }

  const sparse::BlockMatrix& w_;
  const PoolShape& shape_;
  const SubGroup& group_;
  std::vector<std::uint16_t>& words_;
  std::uint64_t first_row_;
  std::uint64_t first_column_;
};

void write_values(const PoolShape& pool_shape, const Pool& pool, const sparse::BlockMatrix& w,
                  std::span<std::byte> values) {
  const Shape& shape = pool_shape.shape;
  const std::size_t area = std::size_t{shape.block} * shape.block;
  std::uint32_t last_unit = UINT32_MAX;
  for_each_unit(pool_shape, pool, [&](std::uint32_t unit, std::uint64_t e) {
    const std::span<std::byte> into =
        values.subspan(std::size_t{unit} * unit_bytes(shape), unit_bytes(shape));
    const bool second = unit == last_unit;
    last_unit = unit;
    for (std::size_t v = 0; v < area; ++v)
      data::store_element(shape.type, into, v + (second ? 1 : 0),
                          w.values(e)[shape.place_in_block(v)]);
  });
}

}  // namespace

std::vector<std::uint16_t> pool_lists(const sparse::BlockMatrix& w, const PoolShape& shape,
                                      const Packing& packing, std::uint32_t partition) {
  const Pool& pool = packing.pools[partition];
  std::vector<std::uint16_t> words(shape.pool_head_words(), 0);
  words[0] = static_cast<std::uint16_t>(pool.groups.size());
  words[1] = static_cast<std::uint16_t>(partition % shape.grid.x);
  words[2] = static_cast<std::uint16_t>(partition / shape.grid.x);
  for (const SubGroup& group : pool.groups)
    ++words[kPoolHeadWords + group.partition % shape.grid.x];
  std::uint64_t unit = 0;
  for (const SubGroup& group : pool.groups) {
    const std::size_t begin = words.size();
    GroupWriter(w, shape, group, words).write(unit * unit_bytes(shape.shape));
    check(words.size() - begin == group.meta_words, "spmm_dynamic: a sub-group of {} words, not {}",
          words.size() - begin, group.meta_words);
    unit += group.units;
  }
  check(words.size() + kPoolEndWords <= shape.meta_words, "spmm_dynamic: a pool of {} words of {}",
        words.size(), shape.meta_words);
  words.resize(shape.meta_words, 0);
  return words;
}

std::vector<std::byte> pool_bytes(const Buffers& sizes, const PoolShape& shape,
                                  const sparse::BlockMatrix& w, const Packing& packing,
                                  std::uint32_t partition) {
  std::vector<std::byte> bytes(sizes.pool);
  const std::vector<std::uint16_t> lists = pool_lists(w, shape, packing, partition);
  std::memcpy(bytes.data(), lists.data(), sizeof(lists.front()) * lists.size());
  if (!shape.shape.gradient)
    write_values(shape, packing.pools[partition], w, std::span(bytes).subspan(sizes.meta));
  return bytes;
}

}  // namespace tessera::spmm_dynamic
