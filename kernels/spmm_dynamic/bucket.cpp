#include "kernels/spmm_dynamic/bucket.h"

#include <algorithm>

#include "sim/base/errors.h"

namespace tessera::spmm_dynamic {

namespace {

// Limit of offsets within a sub-group, which are u16: of lists in words, of values in 32-bit words.
constexpr std::uint32_t kMostGroupWords = 60000;

class Packer {
 public:
  Packer(const sparse::BlockMatrix& w, const PoolShape& shape)
      : w_(w), shape_(shape), left_(shape.grid.partitions()) {
    packing_.pools.resize(shape.grid.partitions());
    packing_.blocks = w.blocks();
    for (Pool& pool : packing_.pools) pool.meta_words = shape.pool_head_words() + kPoolEndWords;
  }

  /// Packs rows that fit whole into the partition's own pool, then parts of rows; then spills the
  /// rest into the nearest pools, one distance at a time for all partitions.
  Packing pack() {
    share_out();
    std::vector<std::uint32_t> full;
    for (std::uint32_t of = 0; of < left_.size(); ++of) {
      packing_.most_blocks = std::max(packing_.most_blocks, left_blocks(of));
      place(of, packing_.pools[of]);
      if (!left_[of].empty()) full.push_back(of);
    }
    for (std::uint32_t dx = 0; dx < shape_.grid.x; ++dx)
      for (std::uint32_t dy = dx == 0 ? 1 : 0; dy < shape_.grid.y && !full.empty(); ++dy)
        std::erase_if(full, [&](std::uint32_t of) { return spill(of, dx, dy); });
    require_all_placed();
    return std::move(packing_);
  }

 private:
  /// Splits block rows into those of each partition, in order.
  void share_out() {
    const EvenSplit rows{w_.block_rows(), shape_.grid.x};
    const EvenSplit columns{w_.block_columns(), shape_.grid.y};
    for (std::uint32_t x = 0; x < shape_.grid.x; ++x) {
      const Interval part = rows.part(x);
      for (auto row = word(part.begin); row < part.end; ++row) {
        std::uint64_t begin = w_.row_begin[row];
        while (begin < w_.row_begin[row + 1]) {
          const auto y = word(columns.holder(w_.column[begin]));
          const std::uint64_t columns_end = columns.part(y).end;
          std::uint64_t end = begin + 1;
          while (end < w_.row_begin[row + 1] && w_.column[end] < columns_end) ++end;
          left_[shape_.grid.partition({x, y})].push_back({row, begin, end});
          begin = end;
        }
      }
    }
  }

  /// Moves blocks of partition `of` into the pool (dx, dy) ahead; returns true if none are left.
  bool spill(std::uint32_t of, std::uint32_t dx, std::uint32_t dy) {
    Pool& pool = packing_.pools[shape_.grid.ahead(of, dx, dy)];
    if (most_blocks(of, pool) == 0) return false;  // most pools are full: reads none of the rows
    const std::uint64_t before = left_blocks(of);
    place(of, pool);
    const std::uint64_t left = left_blocks(of);
    packing_.spilled_blocks += before - left;
    return left == 0;
  }

  [[nodiscard]] std::uint64_t left_blocks(std::uint32_t of) const {
    std::uint64_t blocks = 0;
    for (const RowPart& part : left_[of]) blocks += part.end - part.begin;
    return blocks;
  }

  /// Moves what is left of a partition into `pool` as far as it fits, whole rows first.
  void place(std::uint32_t of, Pool& pool) {
    std::erase_if(left_[of], [&](const RowPart& part) { return add(of, part, pool); });
    for (RowPart& part : left_[of]) {
      while (part.begin < part.end) {
        const std::uint64_t most = most_blocks(of, pool);
        if (most == 0) break;
        const RowPart first{part.row, part.begin, std::min(part.end, part.begin + most)};
        if (!add(of, first, pool)) break;
        part.begin = first.end;
      }
    }
    std::erase_if(left_[of], [](const RowPart& part) { return part.begin == part.end; });
  }

  [[nodiscard]] std::uint32_t words_of(std::uint32_t units) const {
    return 2 + units * unit_blocks(shape_.shape);
  }
  [[nodiscard]] std::uint32_t value_words(std::uint32_t units) const {
    return !shape_.shape.in_blocks() ? units * (unit_bytes(shape_.shape) / kUnitWord) : 0;
  }

  /// True if the last sub-group of `pool` is for this partition and has room for a row of `units`
  /// more.
  [[nodiscard]] bool continues(std::uint32_t of, const Pool& pool, std::uint32_t units) const {
    if (pool.groups.empty()) return false;
    const SubGroup& last = pool.groups.back();
    return last.partition == of && last.meta_words + words_of(units) <= kMostGroupWords &&
           value_words(last.units + units) <= kMostGroupWords;
  }

  bool add(std::uint32_t of, const RowPart& part, Pool& pool) {
    const std::uint32_t units = units_of(shape_, part);
    const bool joins = continues(of, pool, units);
    const std::uint32_t words = words_of(units) + (joins ? 0 : shape_.group_head_words());
    if (pool.units + units > shape_.units || pool.meta_words + words > shape_.meta_words)
      return false;
    if (words > kMostGroupWords || value_words(units) > kMostGroupWords) return false;
    if (!joins) pool.groups.push_back({of, {}, 0, 0});
    SubGroup& group = pool.groups.back();
    group.rows.push_back(part);
    group.meta_words += words;
    group.units += units;
    pool.meta_words += words;
    pool.units += units;
    return true;
  }

  /// Most blocks of one row that `add` accepts.
  [[nodiscard]] std::uint64_t most_blocks(std::uint32_t of, const Pool& pool) const {
    const std::uint32_t head = continues(of, pool, 1) ? 0 : shape_.group_head_words();
    if (pool.meta_words + head + words_of(1) > shape_.meta_words) return 0;
    const std::uint32_t pair = unit_blocks(shape_.shape);
    std::uint32_t units = std::min(shape_.units - pool.units,
                                   (shape_.meta_words - pool.meta_words - head - 2) / pair);
    const SubGroup fresh{};
    const SubGroup& group = head == 0 ? pool.groups.back() : fresh;
    units = std::min(units, (kMostGroupWords - group.meta_words - head - 2) / pair);
    if (value_words(1) != 0)
      units = std::min(units, kMostGroupWords / value_words(1) - group.units);
    return std::uint64_t{units} * pair;
  }

  void require_all_placed() const {
    std::uint64_t blocks = 0;
    std::uint64_t units = 0;
    std::uint64_t words = 0;
    for (std::uint32_t of = 0; of < left_.size(); ++of) blocks += left_blocks(of);
    for (const Pool& pool : packing_.pools) {
      units += pool.units;
      words += pool.meta_words;
    }
    if (blocks == 0) return;
    throw UserError(
        "workload: the buckets are full: {} of {} blocks of {} x {} do not fit; {} of {} units of "
        "values and {} of {} words of lists are used in {} pools. Raise workload.max_density, "
        "workload.max_nonzeros or workload.headroom",
        blocks, packing_.blocks, w_.block, w_.block, units,
        std::uint64_t{shape_.units} * packing_.pools.size(), words,
        std::uint64_t{shape_.meta_words} * packing_.pools.size(), packing_.pools.size());
  }

  const sparse::BlockMatrix& w_;
  const PoolShape& shape_;
  std::vector<std::vector<RowPart>> left_;  ///< unplaced rows, by partition
  Packing packing_;
};

}  // namespace

Packing pack(const sparse::BlockMatrix& w, const PoolShape& shape) {
  Packing packing = Packer(w, shape).pack();
  packing.load = travel(shape, packing.pools).load;
  return packing;
}

}  // namespace tessera::spmm_dynamic
