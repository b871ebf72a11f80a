#include "sim/plan/uniform.h"

#include <algorithm>
#include <map>

#include "sim/data/element.h"
#include "sim/plan/lower.h"

namespace tessera::plan {

void add_result(Description& description, program::Tensor tensor,
                std::variant<BufferId, OuterId> array) {
  auto runs = [slice = program::slices(tensor.shape)](Tile tile, program::Runs& into) {
    slice(tile, into);
  };
  description.tensor({std::move(tensor), array, std::move(runs)});
}

void add_given(Description& description, program::Tensor tensor, SliceWriter write) {
  const std::uint64_t slice = tensor.elements() / tensor.shape.front();
  tensor.given = [write = std::move(write), slice, size = data::element_bytes(tensor.type)](
                     std::uint64_t at, std::span<std::byte> into) {
    while (!into.empty()) {
      const std::uint64_t some = std::min(into.size() / size, slice - at % slice);
      write(static_cast<Tile>(at / slice), at % slice, into.first(some * size));
      into = into.subspan(some * size);
      at += some;
    }
  };
  description.tensor(std::move(tensor));
}

SliceWriter slices_of(const data::Seeded& values) {
  return [values](Tile slice, std::uint64_t first, std::span<std::byte> into) {
    values.write(number_in_slice(slice, first), into);
  };
}

BufferId add_given(Description& description, Array array, program::Tensor tensor,
                   const SliceWriter& write) {
  const std::uint64_t bytes =
      tensor.elements() / tensor.shape.front() * data::element_bytes(tensor.type);
  array.bytes = [bytes](Tile /*tile*/) { return bytes; };
  array.contents = [write](Tile tile, std::span<std::byte> into) { write(tile, 0, into); };
  add_given(description, std::move(tensor), write);
  return description.array(std::move(array));
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
