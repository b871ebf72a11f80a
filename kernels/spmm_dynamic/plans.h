#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "kernels/spmm_dynamic/plan.h"
#include "kernels/spmm_dynamic/pricer.h"

/// Grids of a problem, and the search among them.
namespace tessera::spmm_dynamic {

/// Grids of a problem, from which the best is chosen.
class Plans {
 public:
  /// Work of the tiles for the pools of a grid; nothing if the capacity of the pools is exceeded.
  using Loads = std::function<std::optional<Load>(const PoolShape&)>;
  /// Time and memory that a planner adds to a product's own, by grid.
  struct AddedCost {
    std::function<std::uint64_t(const Grid&)> bound, cycles, bytes;
  };
  Plans(const Problem& problem, Pricer& pricer, Loads loads, AddedCost beside = {})
      : problem_(problem), pricer_(pricer), loads_(std::move(loads)), beside_(std::move(beside)) {}

  /// Adds a grid, to be used in the best of these numberings; `least`: a lower bound on its tiles'
  /// work.
  using Least = std::function<Load(const PoolShape&)>;
  void add(Grid grid, std::span<const Neighbours> numberings, const Least& least);
  /// The best plan; nothing if none fits.
  std::optional<Plan> best();

 private:
  const std::optional<Load>& load(std::size_t option);

  const Problem& problem_;
  Pricer& pricer_;
  Loads loads_;
  AddedCost beside_;
  std::vector<PoolShape> options_;
  std::vector<std::uint64_t> bounds_;
  struct {
    std::size_t option = SIZE_MAX;
    std::optional<Load> load;
  } in_hand_;
};

/// Calls visit(x, y, most z) for all numbers of parts of block rows and columns that the tiles
/// allow, or for the pinned ones.
void for_all_parts(
    const Problem& problem, const Pinned& pinned, std::uint32_t tiles,
    const std::function<void(std::uint32_t x, std::uint32_t y, std::uint32_t most_z)>& visit);

/// The grid with as many parts of the columns as the tiles allow, none empty.
Grid grid_of(const Problem& problem, std::uint32_t x, std::uint32_t y, std::uint32_t most_z);

}  // namespace tessera::spmm_dynamic
