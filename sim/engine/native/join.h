#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/engine/native/region.h"

/// Finds where the two sides of a branch join.
namespace tessera::engine::native {

/// Cost of several exits together, or the difference of two such costs.
struct PathCost {
  std::int64_t slots = 0;
  std::uint64_t work = 0;
  std::array<std::uint64_t, kCauses> waits{};
  Done done;
  void add(const Exit& exit, std::int64_t times = 1);
  void add(const PathCost& other, std::int64_t times = 1);
  /// True if equal except for waits.
  [[nodiscard]] bool is(const PathCost& other) const;
};

/// True for steps that load into one register and change nothing else.
bool loads(const Step& step);

struct Join {
  /// Straight steps up to the join, without the jumps between them.
  struct Side {
    std::vector<Step> steps;
    Place place;     ///< where the side goes on
    PathCost spent;  ///< cost of the exits up to there
  };
  std::array<Side, 2> sides;  ///< branch not taken, branch taken
  PathCost extra;  ///< extra cost of the second side since the node of its place was entered
  /// Cost of the second side in addition to `extra` if the following branch is taken; only if both
  /// places are branches on the same condition.
  std::optional<PathCost> both;
};

/// Joins of a region's branches.
class Joins {
 public:
  explicit Joins(const Region& region) : region_(region) {}

  /// Nothing if the sides are long, have steps that are not convertible, do not join, or have costs
  /// that do not differ by a constant.
  const std::optional<Join>& of(const Step& branch);
  /// The join of a branch that jumps over a few steps, which may load and store.
  [[nodiscard]] std::optional<Join> skip_of(const Step& branch) const;
  [[nodiscard]] const Region& region() const { return region_; }

 private:
  const Region& region_;
  std::map<const Op*, std::optional<Join>> known_;  ///< by branch
};

}  // namespace tessera::engine::native
