#pragma once

#include <functional>
#include <span>
#include <variant>
#include <vector>

#include "sim/data/seeded.h"
#include "sim/plan/description.h"
#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

/// For programs whose tiles all do the same on their own data, without exchanges.
namespace tessera::plan {

/// Declares a result whose slice t along the first extent is the part of `array` on tile t.
void add_result(Description& description, program::Tensor tensor,
                std::variant<BufferId, OuterId> array);

/// Writes elements of slice number `slice` of a tensor, from its element `first` on.
using SliceWriter = std::function<void(Tile slice, std::uint64_t first, std::span<std::byte> into)>;
/// The number of a slice's element among seeded values.
constexpr std::uint64_t number_in_slice(Tile slice, std::uint64_t element) {
  return (std::uint64_t{slice} << 32) + element;
}
/// Writes the elements of `values` with these numbers.
SliceWriter slices_of(const data::Seeded& values);
/// Declares a tensor that the host provides before the run.
void add_given(Description& description, program::Tensor tensor, SliceWriter write);
/// As above, and adds an array with one slice per tile.
BufferId add_given(Description& description, Array array, program::Tensor tensor,
                   const SliceWriter& write);

/// Cycles of the program at `sizes`, equal to those of its first tile. `describe` makes that tile's
/// program at other sizes, of which few are measured (FittedCost).
Prediction predict_uniform(const std::vector<FittedCost::Axis>& axes, const Sizes& sizes,
                           const std::function<Description(const Sizes&)>& describe,
                           MachineCosts& costs);

}  // namespace tessera::plan
