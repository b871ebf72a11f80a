#include "sim/plan/uniform.h"

#include <algorithm>
#include <map>

#include "sim/data/element.h"
#include "sim/plan/lower.h"

namespace tessera::plan {

void add_slices(Description& description, program::Tensor tensor, BufferId array) {
  if (tensor.role == program::Role::result) {
    auto runs = [slice = program::slices(tensor.shape)](Tile tile, program::Runs& into) {
      slice(tile, into);
    };
    description.tensor({std::move(tensor), array, std::move(runs)});
    return;
  }
  const std::uint64_t size = data::element_bytes(tensor.type);
  const std::uint64_t slice = tensor.elements() / tensor.shape.front() * size;
  tensor.given = [contents = description.array(array).contents, size, slice](
                     std::uint64_t first, std::span<std::byte> into) {
    std::vector<std::byte> part(slice);
    for (std::uint64_t at = first * size, end = at + into.size(); at < end;) {
      const std::uint64_t begin = at % slice;
      const std::uint64_t bytes = std::min(slice - begin, end - at);
      contents(static_cast<Tile>(at / slice), part);
      std::copy_n(part.begin() + static_cast<std::ptrdiff_t>(begin), bytes,
                  into.begin() + static_cast<std::ptrdiff_t>(at - first * size));
      at += bytes;
    }
  };
  description.tensor(std::move(tensor));
}

Prediction predict_uniform(const std::vector<FittedCost::Axis>& axes, const Sizes& sizes,
                           const std::function<Description(const Sizes&)>& describe,
                           MachineCosts& costs) {
  std::map<Sizes, TileCost> known;
  const auto measured = [&](const Sizes& at) {
    const auto [entry, is_new] = known.try_emplace(at);
    if (is_new) entry->second = costs.tile(lower(describe(at)));
    return entry->second;
  };
  Prediction p;
  p.compute_cycles =
      FittedCost(axes)(sizes, [&](const Sizes& at) { return measured(at).compute_cycles; });
  p.sync_cycles = costs.barrier() *
                  FittedCost(axes)(sizes, [&](const Sizes& at) { return measured(at).supersteps; });
  p.cycles = p.compute_cycles + p.sync_cycles;
  return p;
}

}  // namespace tessera::plan
