#pragma once

#include <functional>
#include <span>
#include <variant>
#include <vector>

#include "sim/data/seeded.h"
#include "sim/plan/description.h"
#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

/// For programs whose tiles all do the same on data of their own and exchange nothing.
namespace tessera::plan {

/// States a result, whose slice t along the first extent is the part of `array` on tile t.
void add_result(Description& description, program::Tensor tensor,
                std::variant<BufferId, OuterId> array);

/// Writes elements of a tensor's slice of that number from number `first` of it on.
using SliceWriter = std::function<void(Tile slice, std::uint64_t first, std::span<std::byte> into)>;
/// The number of a slice's element among seeded values.
constexpr std::uint64_t number_in_slice(Tile slice, std::uint64_t element) {
  return (std::uint64_t{slice} << 32) + element;
}
/// Slices have the elements of `values` of these numbers.
SliceWriter slices_of(const data::Seeded& values);
/// States what was given before the run.
void add_given(Description& description, program::Tensor tensor, SliceWriter write);
/// As above, and adds an array that has a slice on each tile.
BufferId add_given(Description& description, Array array, program::Tensor tensor,
                   const SliceWriter& write);

/// Cycles of the program at `sizes`: those of its first tile. `describe` gives the program of that
/// tile alone at other sizes, of which few are measured: see FittedCost.
Prediction predict_uniform(const std::vector<FittedCost::Axis>& axes, const Sizes& sizes,
                           const std::function<Description(const Sizes&)>& describe,
                           MachineCosts& costs);

}  // namespace tessera::plan
