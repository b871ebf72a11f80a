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
          left_.push_back({x, y, group.x, group.y});
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
  };

  void step_x(Packing& packing) {
    x_ = (x_ + 1) % grid_.x;
    ++packing.x_steps;
    compute();
  }

  /// Two steps a test, as the pools go from one buffer to the other and back.
  void go_along_y(Packing& packing) {
    const auto here = [this](const Left& left) { return (left.x + x_) % grid_.x == left.home_x; };
    while (grid_.y > 1 && std::any_of(left_.begin(), left_.end(), here)) {
      for (int i = 0; i < 2; ++i) {
        y_ = (y_ + 1) % grid_.y;
        ++packing.y_steps;
        compute();
      }
    }
  }

  void compute() {
    std::erase_if(left_, [this](const Left& left) {
      return (left.x + x_) % grid_.x == left.home_x && (left.y + y_) % grid_.y == left.home_y;
    });
  }

  Grid grid_;
  std::vector<Left> left_;
  std::uint32_t x_ = 0;  ///< the pools here come from x + x_, y + y_
  std::uint32_t y_ = 0;
};

}  // namespace

void travel(const PoolShape& shape, Packing& packing) { Journey(shape, packing).go(packing); }

}  // namespace tessera::spmm_dynamic
