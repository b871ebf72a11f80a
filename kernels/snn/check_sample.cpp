#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "kernels/snn/check.h"
#include "sim/data/random.h"

namespace tessera::snn {

namespace {

constexpr std::uint32_t kSampledNeurons = 16;  // of a layer
constexpr std::uint64_t kNeuronStream = 83;    // of random numbers

const char* mark_name(std::uint32_t mark) {
  return mark == 0 ? "not listed" : mark == kSpikeMark ? "a spike" : "a carrier of gradient";
}

/// What a list says of a neuron.
std::uint32_t mark_in(const List& list, std::uint32_t neuron) {
  const auto place = std::ranges::find(list.ids, neuron);
  if (place == list.ids.end()) return 0;
  return place - list.ids.begin() < list.spikes ? kSpikeMark : kCarrierMark;
}

}  // namespace

/// Some neurons of each layer over all steps of the last batch: states that follow the lists that
/// tiles hold, by the weights that they hold, say whether a neuron spikes or carries gradient. A
/// list that is full may leave out any.
void SnnCheck::compare_neurons() {
  Network held = weights_;
  std::vector<Words> chosen(held.layers.size());
  for (std::uint32_t l = 0; l < held.layers.size(); ++l) {
    Layer& layer = held.layers[l];
    layer.weights = tensors_.floats(weights_name(l, false), threads_);
    if (layer.recurrent())
      layer.recurrent_weights = tensors_.floats(weights_name(l, true), threads_);
    for (std::uint32_t i = 0; i < kSampledNeurons; ++i)
      chosen[l].push_back(word(data::random_below(
          request_.seed, kNeuronStream, std::uint64_t{l} * kSampledNeurons + i, layer.neurons)));
  }
  Network some = only(held, chosen);
  PlainNetwork neurons(some, plan_, snn_.setting(), threads_);
  const PlainNetwork::Lists lists = held_lists();
  neurons.follow(lists);
  const std::uint32_t steps = options_.time_steps;
  for (VectorId v = 1; v < plan_.lists.size(); ++v) {
    Words found, expected;
    for (std::uint32_t b = 0; holds(v) && b < options_.batch; ++b)
      for (std::uint32_t t = 0; t < steps; ++t) {
        const List& list = lists[v][b][t + 1];
        const bool is_full = list.ids.size() == plan_.lists[v].capacity;
        const Words marks = neurons.marks(v - 1, b, t);
        for (std::uint32_t i = 0; i < kSampledNeurons; ++i) {
          found.push_back(mark_in(list, chosen[v - 1][i]));
          expected.push_back(is_full && found.back() == 0 ? 0 : marks[i]);
        }
      }
    const auto says = [&](const kernels::Compared& one) {
      return fmt::format("neuron {} of layer {} is {} for sample {} at step {}, expected {}",
                         chosen[v - 1][one.column], v - 1,
                         mark_name(static_cast<std::uint32_t>(one.found)), one.row / steps,
                         one.row % steps, mark_name(static_cast<std::uint32_t>(one.expected)));
    };
    compare<std::uint32_t>({.says = says}, found, expected, kSampledNeurons);
  }
}

/// Those of the last batch as tiles hold them; a list that says what none can say is left empty.
PlainNetwork::Lists SnnCheck::held_lists() {
  PlainNetwork::Lists lists(plan_.lists.size());
  for (VectorId v = 0; v < lists.size(); ++v) {
    const ListPlan& plan = plan_.lists[v];
    lists[v].assign(options_.batch, std::vector<List>(options_.time_steps + 1));
    if (!holds(v)) continue;
    const auto words = words_of(tensors_, lists_name(v), threads_);
    const std::uint32_t* is = words.data();
    for (std::vector<List>& of_sample : lists[v]) {
      for (List& list : of_sample) {
        const std::uint32_t count = is[1];
        const bool sound = is[0] <= count && count <= plan.capacity &&
                           std::all_of(is + kListHeader, is + kListHeader + count,
                                       [&](std::uint32_t id) { return id < plan.neurons; });
        if (sound)
          list = {{is + kListHeader, is + kListHeader + count}, is[0]};
        else
          result_ = kernels::worse(
              result_, {.max_error = std::numeric_limits<double>::infinity(),
                        .problem = fmt::format(
                            "a list of {} says {} spikes and {} ids, or others than there are",
                            lists_name(v), is[0], count)});
        is += list_words(plan.capacity);
      }
    }
  }
  return lists;
}

}  // namespace tessera::snn
