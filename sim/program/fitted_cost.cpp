#include "sim/program/fitted_cost.h"

#include "sim/base/errors.h"

namespace tessera {
namespace {

// Points of a line, in periods from its first; the third decides.
constexpr std::uint64_t kSecond = 1, kThird = 4;
// Where lines may begin, in periods from an axis's first size: a pipeline may take long to settle.
constexpr std::uint64_t kBegins[] = {0, 8};
// A cost may be off its line by one part in so many: issue need not repeat with the period.
constexpr std::uint64_t kTolerance = 256;

std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a < b ? b - a : a - b; }

}  // namespace

std::uint64_t FittedCost::along(std::size_t axis, const Sizes& sizes) {
  if (axis == axes_.size()) return measure(sizes);
  const auto found = known_.find({axis, sizes});
  if (found != known_.end()) return found->second;
  const std::uint64_t cost = fitted(axis, sizes);
  known_.emplace(std::pair(axis, sizes), cost);
  return cost;
}

std::uint64_t FittedCost::fitted(std::size_t axis, const Sizes& sizes) {
  const Axis& along_axis = axes_[axis];
  const std::uint64_t size = sizes[axis];
  for (const std::uint64_t begin : kBegins) {
    const std::uint64_t least = along_axis.first + begin * along_axis.period;
    const std::uint64_t first = least + (size - least) % along_axis.period;
    if (size < least || size <= first + kThird * along_axis.period) break;
    const auto at = [&](std::uint64_t periods) {
      Sizes point = sizes;
      point[axis] = first + periods * along_axis.period;
      return along(axis + 1, point);
    };
    const std::uint64_t a = at(0), b = at(kSecond), c = at(kThird);
    if (c < a || distance(c, a + (b - a) * kThird) > c / kTolerance) continue;
    const std::uint64_t periods = (size - first) / along_axis.period;
    return a + ((c - a) * periods + kThird / 2) / kThird;
  }
  return along(axis + 1, sizes);
}

std::uint64_t FittedCost::measure(const Sizes& sizes) {
  const auto found = measured_.find(sizes);
  if (found != measured_.end()) return found->second;
  const std::uint64_t cost = measure_(sizes);
  measured_.emplace(sizes, cost);
  return cost;
}

}  // namespace tessera
