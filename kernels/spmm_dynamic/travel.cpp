#include <algorithm>

#include "kernels/spmm_dynamic/bucket.h"

namespace tessera::spmm_dynamic {

namespace {

/// Number of rows of part of a group, and their units.
struct Rows {
  std::uint64_t rows, units;

  /// Work in units of value time.
  [[nodiscard]] double work(const PoolShape& shape) const {
    return shape.row_units * static_cast<double>(rows) + static_cast<double>(units);
  }
};

Rows rows_of(const PoolShape& shape, const SubGroup& group, std::size_t begin, std::size_t end) {
  Rows sum{end - begin, 0};
  for (std::size_t row = begin; row < end; ++row) sum.units += units_of(shape, group.rows[row]);
  return sum;
}

/// First row of each part, with rows cut into parts of about equal work.
std::vector<std::size_t> cuts(const PoolShape& shape, const SubGroup& group, std::uint32_t parts) {
  std::vector<std::size_t> at{0};
  const double all = Rows{group.rows.size(), group.units}.work(shape);
  double done = 0;
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    const double row = Rows{1, units_of(shape, group.rows[i])}.work(shape);
    while (at.size() < parts && (done + row / 2) * parts >= all * static_cast<double>(at.size()))
      at.push_back(i);
    done += row;
  }
  at.resize(parts + 1, group.rows.size());
  return at;
}

/// The part with the most work.
Rows busiest(const PoolShape& shape, const SubGroup& group, const std::vector<std::size_t>& at) {
  Rows most{0, 0};
  for (std::size_t i = 0; i + 1 < at.size(); ++i) {
    const Rows rows = rows_of(shape, group, at[i], at[i + 1]);
    if (rows.work(shape) > most.work(shape)) most = rows;
  }
  return most;
}

/// Simulates the tiles' movement of pools: the sub-groups left after each step.
class Propagation {
 public:
  Propagation(const PoolShape& shape, const std::vector<Pool>& pools)
      : grid_(shape.grid), row_units_(shape.row_units) {
    made_.visits.resize(grid_.partitions());
    for (std::uint32_t home = 0; home < pools.size(); ++home)
      for (const SubGroup& group : pools[home].groups)
        left_.push_back({home, portion_of(shape, group), &group});
    made_.load.own = compute();
  }

  TravelWork run() && {
    while (!left_.empty()) {
      go_along_y();
      if (grid_.x == 1) continue;
      step(x_, made_.load.x_steps);
      go_along_y();
      step(x_, made_.load.x_steps);
    }
    return std::move(made_);
  }

 private:
  struct Left {
    std::uint32_t home;  ///< the partition whose pool holds the group
    Portion portion;
    const SubGroup* group;
  };

  void step(std::uint32_t& along, std::uint32_t& steps) {
    ++along;
    ++steps;
    made_.load.steps += compute();
  }

  /// The home of the pool that is now at the group's partition.
  [[nodiscard]] std::uint32_t pool_at(const SubGroup& group) const {
    return grid_.ahead(group.partition, x_, y_);
  }

  /// Steps in pairs, since pools alternate between two buffers.
  void go_along_y() {
    const auto here = [this](const Left& left) {
      return pool_at(*left.group) % grid_.x == left.home % grid_.x;
    };
    while (grid_.y > 1 && std::ranges::any_of(left_, here))
      for (int i = 0; i < 2; ++i) step(y_, made_.load.y_steps);
  }

  /// Computes the sub-groups that are in place; returns the largest work of a tile.
  Portion compute() {
    std::vector<Portion> computed(grid_.partitions());
    std::erase_if(left_, [&](const Left& left) {
      const bool here = pool_at(*left.group) == left.home;
      const std::uint32_t steps = made_.load.y_steps + made_.load.x_steps;
      if (here) made_.visits[left.group->partition].push_back({left.group, left.home, steps});
      if (here) computed[left.group->partition] += left.portion;
      return here;
    });
    return *std::max_element(computed.begin(), computed.end(),
                             [this](const auto& a, const auto& b) { return work(a) < work(b); });
  }

  /// Work in units, for comparing tiles.
  [[nodiscard]] double work(const Portion& portion) const {
    return std::max(portion.blocks, row_units_ * portion.busiest.rows + portion.busiest.units);
  }

  Grid grid_;
  double row_units_;
  std::vector<Left> left_;
  TravelWork made_;
  std::uint32_t x_ = 0;  ///< steps along x so far: pools are from this many parts ahead
  std::uint32_t y_ = 0;
};

}  // namespace

std::uint32_t units_of(const PoolShape& shape, const RowPart& row) {
  return static_cast<std::uint32_t>(
      ceil_div<std::uint64_t>(row.end - row.begin, unit_blocks(shape.shape)));
}

WorkerParts worker_parts(const PoolShape& shape, const SubGroup& group) {
  WorkerParts best;
  double least = 0;
  for (std::uint32_t parts = 1; parts <= std::clamp(shape.passes(), 1U, shape.contexts); ++parts) {
    std::vector<std::size_t> at = cuts(shape, group, shape.contexts / parts);
    const double most = busiest(shape, group, at).work(shape) * ceil_div(shape.passes(), parts);
    if (parts > 1 && most >= least) continue;
    best = {std::move(at), parts};
    least = most;
  }
  return best;
}

Portion portion_of(const PoolShape& shape, const SubGroup& group) {
  Portion portion{0, static_cast<double>(group.rows.size()), {}};
  for (const RowPart& row : group.rows) portion.blocks += static_cast<double>(row.end - row.begin);
  if (shape.shape.in_blocks()) return portion;
  const WorkerParts parts = worker_parts(shape, group);
  const Rows most = busiest(shape, group, parts.cuts);
  const double passes = ceil_div(shape.passes(), parts.pass_parts);
  const double workers = shape.contexts * passes / shape.passes();
  portion.busiest = {workers * static_cast<double>(most.rows),
                     workers * static_cast<double>(most.units)};
  return portion;
}

TravelWork travel(const PoolShape& shape, const std::vector<Pool>& pools) {
  return Propagation(shape, pools).run();
}

}  // namespace tessera::spmm_dynamic
