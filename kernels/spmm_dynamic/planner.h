#pragma once

#include <memory>
#include <optional>

#include "kernels/spmm_dynamic/cost.h"

/// The search over grids. Planners differ in what they expect of patterns, and in the grids that
/// come into question for them.
namespace tessera::spmm_dynamic {

class Search {
 public:
  Search(const Problem& problem, const Pinned& pinned, Cost& cost)
      : problem_(problem), pinned_(pinned), cost_(cost) {}
  virtual ~Search() = default;

  std::optional<Plan> best();

 protected:
  /// Considers what z comes into question for parts x and y; at most `z`, or exactly if pinned.
  virtual void consider(std::uint32_t x, std::uint32_t y, std::uint32_t z);
  /// Of patterns of the problem's most blocks on a grid.
  [[nodiscard]] virtual Load expected(const Problem& problem, const Grid& grid) const = 0;
  /// After all grids were considered.
  virtual void finish() {}
  /// Keeps a grid if it is the best so far.
  virtual void consider(const Grid& grid, std::uint64_t further_cycles);

  const Problem& problem_;
  const Pinned& pinned_;
  Cost& cost_;
  std::optional<Plan> best_;
  std::uint64_t best_cost_ = 0;
};

/// The grid with as many parts of the columns as there are tiles for, none empty.
Grid grid_of(const Problem& problem, std::uint32_t x, std::uint32_t y, std::uint32_t most_z);

/// A load of `most` blocks in the fullest partition, of which what its pool has no room for spills.
Load spilling_load(const Problem& problem, const Grid& grid, double most);

}  // namespace tessera::spmm_dynamic
