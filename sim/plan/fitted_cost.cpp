#include "sim/plan/fitted_cost.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tessera {
namespace {

// Starts of boxes, in periods from an axis's first size: a pipeline may take long to settle.
constexpr std::uint64_t kBegins[] = {0, 8};
// A centre may be off by 1 / kTolerance of the corners' difference: issue need not repeat with the
// period.
constexpr double kTolerance = 64;
// A box is confirmed kConfirmed edges along each axis, at most at the queried sizes: there workers
// may outlast supervisor code that runs concurrently. If this many edges cost more than the box's
// corner, nothing of that size is hidden.
constexpr std::uint64_t kConfirmed = 32;

constexpr bool contains(std::uint32_t axes, std::size_t axis) { return (axes >> axis & 1U) != 0; }

}  // namespace

FittedCost::FittedCost(std::vector<Axis> axes) : axes_(std::move(axes)) {
  for (std::uint32_t set = 1; set < 1U << axes_.size(); ++set) sets_.push_back(set);
  std::stable_sort(sets_.begin(), sets_.end(), [](std::uint32_t a, std::uint32_t b) {
    return std::popcount(a) > std::popcount(b);
  });
}

std::uint64_t FittedCost::operator()(const Sizes& sizes, const Measure& measure) {
  const auto found = known_.find(sizes);
  if (found != known_.end()) return found->second;
  return known_[sizes] = find(sizes, measure);
}

std::uint64_t FittedCost::find(const Sizes& sizes, const Measure& measure) {
  for (const std::uint32_t set : sets_) {
    for (const std::uint64_t begin : kBegins) {
      const std::optional<Box> found = box(sizes, set, begin);
      if (!found) break;
      if (const auto cost = by(*found, measure)) return *cost;
    }
  }
  return measured_at(sizes, measure);
}

/// Makes a box; none if `sizes` are not beyond it.
std::optional<FittedCost::Box> FittedCost::box(const Sizes& sizes, std::uint32_t axes,
                                               std::uint64_t begin) const {
  Box box{axes, sizes, sizes, std::vector<double>(axes_.size())};
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (!contains(axes, i)) continue;
    const auto [period, first, length] = axes_[i];
    const std::uint64_t least = first + begin * period;
    if (sizes[i] < least) return {};
    const std::uint64_t corner = least + (sizes[i] - least) % period;
    const std::uint64_t edge = length * period;
    if (sizes[i] <= corner + edge) return {};
    box.corner[i] = corner;
    box.centre[i] = corner + edge / 2;
    box.edges[i] = static_cast<double>(sizes[i] - corner) / static_cast<double>(edge);
  }
  return box;
}

/// True if the cost continues along each axis with the slope of the box's edge.
bool FittedCost::goes_on(const Box& box, const Measure& measure) {
  const auto from = static_cast<double>(measured_at(box.corner, measure));
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (!contains(box.axes, i)) continue;
    Sizes at = box.corner;
    const std::uint64_t edge = axes_[i].edge * axes_[i].period;
    at[i] += edge;
    const double step = static_cast<double>(measured_at(at, measure)) - from;
    if (step * static_cast<double>(kConfirmed) > from) continue;
    const std::uint64_t edges =
        std::min(kConfirmed, std::bit_floor(static_cast<std::uint64_t>(box.edges[i])));
    at[i] += (edges - 1) * edge;
    const double expected = from + static_cast<double>(edges) * step;
    if (std::abs(static_cast<double>(measured_at(at, measure)) - expected) > expected / kTolerance)
      return false;
  }
  return true;
}

/// The extrapolated cost; none if the box's centre does not agree with its corners, or goes_on()
/// fails.
std::optional<std::uint64_t> FittedCost::by(const Box& box, const Measure& measure) {
  double cost = 0;
  double sum = 0;
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  std::uint32_t far = box.axes;  // those at whose far end the current corner is
  do {
    Sizes at = box.corner;
    double weight = 1;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (!contains(box.axes, i)) continue;
      if (contains(far, i)) at[i] += axes_[i].edge * axes_[i].period;
      weight *= contains(far, i) ? box.edges[i] : 1 - box.edges[i];
    }
    const auto measured = static_cast<double>(measured_at(at, measure));
    cost += weight * measured;
    sum += measured;
    least = std::min(least, measured);
    most = std::max(most, measured);
    far = (far - 1) & box.axes;
  } while (far != box.axes);
  const double mean = sum / static_cast<double>(1U << std::popcount(box.axes));
  const double off = std::abs(static_cast<double>(measured_at(box.centre, measure)) - mean);
  if (off > (most - least) / kTolerance || cost < 0 || !goes_on(box, measure)) return {};
  return static_cast<std::uint64_t>(std::llround(cost));
}

std::uint64_t FittedCost::measured_at(const Sizes& sizes, const Measure& measure) {
  const auto found = measured_.find(sizes);
  if (found != measured_.end()) return found->second;
  return measured_[sizes] = measure(sizes);
}

}  // namespace tessera
