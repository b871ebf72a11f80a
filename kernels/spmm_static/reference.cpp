#include <vector>

#include "kernels/sparse/check.h"
#include "kernels/spmm_static/spmm_static.h"
#include "sim/data/element.h"

namespace tessera::spmm_static {

namespace {

/// Rows of Y out of the equal parts in which it lies on the tiles: [block row][column][row in
/// block], or by rows.
class FinishedRows {
 public:
  FinishedRows(const Partition& partition, const MemoryReader& memory)
      : partition_(partition),
        memory_(memory),
        depth_(partition.shape.relayouts() ? 1 : partition.shape.block) {}

  void read(std::uint32_t row, std::span<double> into) {
    if (row / depth_ != held_) fetch(row / depth_);
    for (std::size_t j = 0; j < into.size(); ++j) {
      into[j] = data::load_element(partition_.shape.type, bytes_, j * depth_ + row % depth_);
    }
  }

 private:
  /// Reads the rows that lie side by side.
  void fetch(std::uint64_t number) {
    const std::uint64_t elements = depth_ * partition_.columns;
    const std::uint32_t size = partition_.shape.bytes();
    const std::uint64_t stored = partition_.y_stored();
    bytes_.resize(elements * size);
    for (std::uint64_t done = 0; done < elements;) {
      const std::uint64_t at = number * elements + done;
      const std::uint64_t count = std::min(elements - done, stored - at % stored);
      memory_.read({y_buffer(at / stored), static_cast<std::uint32_t>(at % stored * size)},
                   std::span(bytes_).subspan(done * size, count * size));
      done += count;
    }
    held_ = number;
  }

  const Partition& partition_;
  const MemoryReader& memory_;
  std::uint64_t depth_;  ///< rows that lie side by side
  std::vector<std::byte> bytes_;
  std::uint64_t held_ = ~std::uint64_t{0};
};

/// Products of one row that a sum takes before it is rounded to partials.
std::uint32_t depth_of(const Shape& shape) {
  if (shape.block == 1) return shape.mixed() ? 2 : 1;
  return shape.x_depth();
}

std::uint32_t most_sources(const Partition& partition) {
  std::uint32_t most = 1;
  for (const Layer& layer : partition.layers) {
    std::vector<std::uint32_t> sources(partition.block_rows, 0);
    for (const Share& share : layer.shares) {
      for (const RowRun& run : share.rows) most = std::max(most, ++sources[run.row]);
    }
  }
  return most;
}

}  // namespace

CheckResult SpmmStatic::check(const MemoryReader& memory, CheckMode mode) const {
  const Partition& partition = plan_.partition;
  FinishedRows rows(partition, memory);
  return sparse::check_product(
      w_, x_, [&](std::uint32_t row, std::span<double> into) { rows.read(row, into); },
      sparse::rounding_of(partition.shape.type, partition.shape.partials, depth_of(partition.shape),
                          most_sources(partition)),
      mode, options_.weights.seed);
}

}  // namespace tessera::spmm_static
