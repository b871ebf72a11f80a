#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/engine/native/region.h"

/// Where the two sides of a branch join.
namespace tessera::engine::native {

/// Cost of several ways together, or its excess over that of others.
struct Spent {
  std::int64_t slots = 0;
  std::uint64_t work = 0;
  std::array<std::uint64_t, kCauses> waits{};
  Done done;
  void add(const Way& way, std::int64_t times = 1);
  void add(const Spent& other, std::int64_t times = 1);
  /// Equal but for waits.
  [[nodiscard]] bool is(const Spent& other) const;
};

/// True of steps that load into one register and change nothing else.
bool loads(const Step& step);

struct Join {
  /// Straight steps, and jumps between them.
  struct Side {
    std::vector<Step> steps;
    Place place;  ///< where it goes on
    Spent spent;  ///< on ways until there
  };
  std::array<Side, 2> sides;  ///< branch not taken, branch taken
  Spent extra;  ///< extra cost of the second side since the node of its place was entered
  /// Cost of the second side beside `extra` if the following branch is taken, where both places are
  /// branches that test the same condition.
  std::optional<Spent> both;
};

/// Joins of a region's branches.
class Joins {
 public:
  explicit Joins(const Region& region) : region_(region) {}

  /// Nothing if the sides do much before they join, do what is not convertible, or do not join, or
  /// if what they cost does not differ by a constant.
  const std::optional<Join>& of(const Step& branch);
  /// The join of a branch that jumps over a few steps, which may load and store.
  [[nodiscard]] std::optional<Join> skip_of(const Step& branch) const;
  [[nodiscard]] const Region& region() const { return region_; }

 private:
  const Region& region_;
  std::map<const Op*, std::optional<Join>> known_;  ///< by branch
};

}  // namespace tessera::engine::native
