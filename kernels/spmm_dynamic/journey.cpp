#include <algorithm>

#include "kernels/spmm_dynamic/bucket.h"

namespace tessera::spmm_dynamic {

namespace {

/// Walks the pools as the tiles will: which sub-groups are left after each step.
class Journey {
 public:
  Journey(const PoolShape& shape, const Packing& packing) : grid_(shape.grid) {
    for (std::uint32_t y = 0; y < grid_.y; ++y) {
      for (std::uint32_t x = 0; x < grid_.x; ++x) {
        for (const SubGroup& group : packing.pools[x + std::size_t{y} * grid_.x].groups)
          left_.push_back({x, y, group.x, group.y, blocks_of(group)});
      }
    }
    compute();
  }

  void go(Packing& packing) {
    while (!left_.empty()) {
      go_along_y(packing);
      if (grid_.x == 1) continue;
      step_x(packing);
      go_along_y(packing);
      step_x(packing);
    }
  }

 private:
  struct Left {
    std::uint32_t home_x, home_y, x, y;
    std::uint64_t blocks;
  };

  static std::uint64_t blocks_of(const SubGroup& group) {
    std::uint64_t blocks = 0;
    for (const RowPart& row : group.rows) blocks += row.end - row.begin;
    return blocks;
  }

  void step_x(Packing& packing) {
    x_ = (x_ + 1) % grid_.x;
    ++packing.x_steps;
    packing.step_blocks += compute();
  }

  /// Two steps a test, as the pools go from one buffer to the other and back.
  void go_along_y(Packing& packing) {
    const auto here = [this](const Left& left) { return (left.x + x_) % grid_.x == left.home_x; };
    while (grid_.y > 1 && std::any_of(left_.begin(), left_.end(), here)) {
      for (int i = 0; i < 2; ++i) {
        y_ = (y_ + 1) % grid_.y;
        ++packing.y_steps;
        packing.step_blocks += compute();
      }
    }
  }

  /// The most blocks that a tile computes now.
  std::uint64_t compute() {
    std::vector<std::uint64_t> computed(grid_.partitions(), 0);
    std::erase_if(left_, [&](const Left& left) {
      const bool here =
          (left.x + x_) % grid_.x == left.home_x && (left.y + y_) % grid_.y == left.home_y;
      if (here) computed[left.x + std::size_t{left.y} * grid_.x] += left.blocks;
      return here;
    });
    return *std::max_element(computed.begin(), computed.end());
  }

  Grid grid_;
  std::vector<Left> left_;
  std::uint32_t x_ = 0;  ///< the pools here come from x + x_, y + y_
  std::uint32_t y_ = 0;
};

}  // namespace

void travel(const PoolShape& shape, Packing& packing) { Journey(shape, packing).go(packing); }

}  // namespace tessera::spmm_dynamic
