#include <algorithm>

#include "kernels/spmm_dynamic/bucket.h"

namespace tessera::spmm_dynamic {

namespace {

/// Moves the pools as the tiles will: which sub-groups are left after each step.
class Propagation {
 public:
  Propagation(const PoolShape& shape, const std::vector<Pool>& pools)
      : grid_(shape.grid), row_units_(shape.row_units) {
    made_.visits.resize(grid_.partitions());
    for (std::uint32_t y = 0; y < grid_.y; ++y) {
      for (std::uint32_t x = 0; x < grid_.x; ++x) {
        for (const SubGroup& group : pools[x + std::size_t{y} * grid_.x].groups)
          left_.push_back({x, y, group.x, group.y, portion_of(shape, group), &group});
      }
    }
    made_.load.own = compute();
  }

  Travel run() && {
    while (!left_.empty()) {
      go_along_y();
      if (grid_.x == 1) continue;
      step_x();
      go_along_y();
      step_x();
    }
    return std::move(made_);
  }

 private:
  struct Left {
    std::uint32_t home_x, home_y, x, y;
    Portion portion;
    const SubGroup* group;
  };

  void step_x() {
    x_ = (x_ + 1) % grid_.x;
    ++made_.load.x_steps;
    made_.load.steps += compute();
  }

  /// Two steps a test, as the pools go from one buffer to the other and back.
  void go_along_y() {
    const auto here = [this](const Left& left) { return (left.x + x_) % grid_.x == left.home_x; };
    while (grid_.y > 1 && std::any_of(left_.begin(), left_.end(), here)) {
      for (int i = 0; i < 2; ++i) {
        y_ = (y_ + 1) % grid_.y;
        ++made_.load.y_steps;
        made_.load.steps += compute();
      }
    }
  }

  /// The most that a tile computes now.
  Portion compute() {
    std::vector<Portion> computed(grid_.partitions());
    std::erase_if(left_, [&](const Left& left) {
      const bool here =
          (left.x + x_) % grid_.x == left.home_x && (left.y + y_) % grid_.y == left.home_y;
      if (here) {
        const std::size_t tile = left.x + std::size_t{left.y} * grid_.x;
        made_.visits[tile].push_back({left.group, left.home_x + left.home_y * grid_.x,
                                      made_.load.y_steps + made_.load.x_steps});
        computed[tile] += left.portion;
      }
      return here;
    });
    return *std::max_element(computed.begin(), computed.end(),
                             [this](const auto& a, const auto& b) { return work(a) < work(b); });
  }

  /// In units: what orders tiles.
  [[nodiscard]] double work(const Portion& portion) const {
    return std::max(portion.blocks, row_units_ * portion.busiest.rows + portion.busiest.units);
  }

  Grid grid_;
  double row_units_;
  std::vector<Left> left_;
  Travel made_;
  std::uint32_t x_ = 0;  ///< the pools here come from x + x_, y + y_
  std::uint32_t y_ = 0;
};

}  // namespace

Travel travel(const PoolShape& shape, const std::vector<Pool>& pools) {
  return Propagation(shape, pools).run();
}

}  // namespace tessera::spmm_dynamic
