#include <algorithm>

#include "kernels/snn/program.h"
#include "kernels/snn/reference.h"

/// Which neurons a list holds, plainly: the order in which the plan's workers look through them.
namespace tessera::snn {

namespace {

/// lowbias32 (Wellons), as in the tile code.
std::uint32_t mixed(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ (x >> 16);
}

std::uint32_t below(std::uint32_t chance, std::uint32_t bound) {
  return static_cast<std::uint32_t>((std::uint64_t{chance} * bound) >> 32);
}

/// What one looked-through range has found, before it is joined with others.
struct Found {
  std::vector<std::uint32_t> spikes, carriers;
};

/// Spikes of all, then carriers, as many as there is room for; the first of `found` changes with
/// the step.
Found join(const std::vector<Found>& found, std::uint32_t step, std::uint32_t capacity) {
  Found all;
  const auto count = static_cast<std::uint32_t>(found.size());
  const std::uint32_t first = below(mixed(step), count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Found& one = found[(first + i) % count];
    all.spikes.insert(all.spikes.end(), one.spikes.begin(), one.spikes.end());
    all.carriers.insert(all.carriers.end(), one.carriers.begin(), one.carriers.end());
  }
  all.spikes.resize(std::min<std::size_t>(all.spikes.size(), capacity));
  all.carriers.resize(std::min<std::size_t>(all.carriers.size(), capacity - all.spikes.size()));
  return all;
}

/// Neurons in the order in which a worker looks through its marks `first` to `end`, by chance.
std::vector<std::uint32_t> order_of(const Plan& plan, VectorId vector, kernels::Interval marks,
                                    std::uint32_t chance) {
  const std::uint32_t each = plan.neurons_a_mark();
  const auto count = static_cast<std::uint32_t>(marks.size());
  const std::uint32_t start = below(chance, count * each);
  std::vector<std::uint32_t> order;
  const auto add = [&](std::uint64_t mark, std::uint32_t from, std::uint32_t to) {
    const kernels::Interval these = plan.marked(vector, mark);
    for (std::uint32_t place = from; place < to; ++place) {
      // Of a pair's bits the second neuron's is foremost.
      const std::uint64_t n = these.begin + (each > 1 ? place ^ 1U : place);
      if (n < these.end) order.push_back(static_cast<std::uint32_t>(n));
    }
  };
  for (std::uint32_t i = 0; i <= count; ++i) {
    const std::uint64_t mark = marks.begin + (start / each + i) % count;
    add(mark, i == 0 ? start % each : 0, i == count ? start % each : each);
  }
  return order;
}

}  // namespace

List PlainNetwork::select(VectorId vector, std::size_t sample, std::uint32_t step) const {
  const ListPlan& plan = plan_.lists[vector];
  const std::vector<std::uint32_t> marks = this->marks(vector - 1, sample, step);
  const std::uint32_t workers = setting_.contexts;
  const std::uint32_t each = plan_.neurons_a_mark();
  const std::uint32_t largest = ceil_div(plan.marks, plan.spread) * each;
  std::vector<Found> parts;
  for (std::uint32_t s = 0; s < plan.spread; ++s) {
    const kernels::Interval part = plan.part(s);
    const std::uint64_t chunk = ceil_div<std::uint64_t>(part.size(), workers);
    const std::uint64_t room = std::min<std::uint64_t>(plan.capacity, chunk * each);
    const std::uint32_t chance =
        chance_of(setting_.seed, vector, static_cast<std::uint32_t>(sample), s);
    std::vector<Found> found(workers);
    for (std::uint32_t w = 0; w < workers && w * chunk < part.size(); ++w) {
      const std::uint64_t first = part.begin + w * chunk;
      const kernels::Interval mine{first, std::min(first + chunk, part.end)};
      for (const std::uint32_t k :
           order_of(plan_, vector, mine, mixed(chance + step * 0x9e3779b9U + w))) {
        if (marks[k] == 0) continue;
        if (found[w].spikes.size() + found[w].carriers.size() == room) break;
        (marks[k] == kSpikeMark ? found[w].spikes : found[w].carriers).push_back(k);
      }
    }
    parts.push_back(
        join(found, step, plan.spread > 1 ? std::min(plan.capacity, largest) : plan.capacity));
  }
  const Found all = plan.spread > 1 ? join(parts, step, plan.capacity) : parts.front();
  List list{all.spikes, static_cast<std::uint32_t>(all.spikes.size())};
  list.ids.insert(list.ids.end(), all.carriers.begin(), all.carriers.end());
  for (const std::uint32_t mark : marks) list.left_out += mark;
  for (const std::uint32_t id : list.ids) list.left_out -= marks[id];
  return list;
}

std::vector<std::uint32_t> PlainNetwork::marks(std::uint32_t layer, std::size_t sample,
                                               std::uint32_t step) const {
  const Layer& what = network_.layers[layer];
  std::vector<std::uint32_t> marks(what.neurons);
  for (std::uint32_t k = 0; k < what.neurons; ++k) {
    const float v = position(layer, sample, step + 1, k);
    marks[k] = v > what.threshold[k] ? kSpikeMark : v > what.second_threshold[k] ? kCarrierMark : 0;
  }
  return marks;
}

}  // namespace tessera::snn
