#include "kernels/spmm_dynamic/replay.h"

#include <algorithm>

namespace tessera::spmm_dynamic {

namespace {

using sparse::HalfSums;

/// Each tile adds the blocks of a row in the order in which pools come by; the tile that adds up a
/// part of the sums begins with its own.
class Replay {
 public:
  Replay(const Problem& problem, const PoolShape& shape, const Packing& packing,
         const sparse::BlockMatrix& w)
      : bytes_(problem, shape),
        shape_(shape.shape),
        grid_(shape.grid),
        w_(w),
        n_(problem.n),
        rows_{problem.block_rows, grid_.x},
        runs_(grid_.y, std::vector<std::vector<RowPart>>(problem.block_rows)) {
    const Visits visits = visits_of(shape, packing.pools);
    for (std::size_t partition = 0; partition < visits.size(); ++partition) {
      for (const SubGroup* group : visits[partition]) {
        for (const RowPart& part : group->rows)
          runs_[partition / grid_.x][part.row].push_back(part);
      }
    }
  }

  void row(std::uint32_t row, std::span<const float> x, std::span<float> y) const {
    std::vector<std::vector<float>> partials(grid_.y);
    for (std::uint32_t begin = 0; begin < n_; begin += grid_.columns) {
      const std::uint32_t width = std::min(grid_.columns, n_ - begin);
      for (std::uint32_t part = 0; part < grid_.y; ++part)
        add_blocks(runs_[part][row / w_.block], row % w_.block, x, begin,
                   partials[part] = std::vector<float>(width));
      for (std::uint32_t j = 0; j < width; ++j) y[begin + j] = joined(partials, row, j);
    }
  }

 private:
  void add_blocks(const std::vector<RowPart>& parts, std::uint32_t row, std::span<const float> x,
                  std::uint32_t begin, std::span<float> sums) const {
    const HalfSums half(shape_.summed());
    for (const RowPart& part : parts) {
      for (std::uint64_t e = part.begin; e < part.end; ++e)
        half.add_block(w_, e, row, x, n_, begin, sums);
    }
  }
  [[nodiscard]] float joined(const std::vector<std::vector<float>>& partials, std::uint32_t row,
                             std::uint32_t column) const {
    const std::uint32_t own = adder(row, column);
    float sum = partials[own][column];
    for (std::uint32_t part = 0; part < grid_.y; ++part) {
      if (part != own) sum = kernels::to_half(sum + partials[part][column]);
    }
    return sum;
  }
  /// The part of the block columns whose tile adds up an element.
  [[nodiscard]] std::uint32_t adder(std::uint32_t row, std::uint32_t column) const {
    std::uint32_t x = 0;
    while (rows_.begin(x + 1) <= row / shape_.block) ++x;
    const std::uint64_t local = row - rows_.begin(x) * shape_.block;
    const std::uint64_t depth = shape_.y_depth();
    const std::uint64_t element = (local / depth * grid_.columns + column) * depth + local % depth;
    const std::uint64_t chunk = element * shape_.partial_bytes() / kChunkBytes;
    std::uint32_t part = 0;
    while (bytes_.share(part, 0).end <= chunk) ++part;
    return part;
  }

  Buffers bytes_;
  Shape shape_;
  Grid grid_;
  const sparse::BlockMatrix& w_;
  std::uint32_t n_;
  EvenSplit rows_;                                       // block rows over x
  std::vector<std::vector<std::vector<RowPart>>> runs_;  // by part y and block row
};

}  // namespace

sparse::RowReplay replay_of(const Problem& problem, const PoolShape& shape, const Packing& packing,
                            const sparse::BlockMatrix& w) {
  if (shape.shape.partials != Type::f16) return {};
  return
      [replay = Replay(problem, shape, packing, w)](std::uint32_t row, std::span<const float> x,
                                                    std::span<float> y) { replay.row(row, x, y); };
}

}  // namespace tessera::spmm_dynamic
