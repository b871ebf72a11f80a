#include <algorithm>

#include <fmt/format.h>

#include "kernels/snn/statement.h"

namespace tessera::snn {

using program::Role;
using program::Runs;
using program::Tensor;
using program::Type;

namespace {

std::string vector_name(VectorId vector) {
  return vector == 0 ? "input" : fmt::format("{}", vector - 1);
}

/// spikes_input, spikes_0, ...: [samples, steps, words], the lists of the last batch as tiles have
/// them; totals_0, ...: [samples, kTotals] over all batches.
void add_lists(plan::Description& d, const std::shared_ptr<const Arrays>& s, VectorId v) {
  const std::uint64_t slots = std::uint64_t{s->steps()} + 1;
  const auto add = [&](Tensor tensor, const Slices& lies) {
    const std::uint64_t words = tensor.elements() / s->batch();
    d.tensor({std::move(tensor), lies.array, [s, v, words, each = lies.each](Tile t, Runs& runs) {
                s->for_homes(v, t, [&](std::uint32_t sample, std::uint64_t slot) {
                  runs.add({slot * each / 4, sample * words, words, 1});
                });
              }});
  };
  add({lists_name(v),
       v == 0 ? Role::input : Role::result,
       Type::u32,
       {s->batch(), slots, s->stride(v) / 4}},
      s->by_vector[v].stored);
  if (v > 0)
    add({totals_name(v), Role::result, Type::u32, {s->batch(), kTotals}}, s->by_vector[v].totals);
}

/// Adds the runs of a tile's weights: blocks of neurons, each stored row by row.
void add_rows(const Layout& layout, const Neurons& its, Interval rows, Runs& runs) {
  const std::uint64_t neurons = layout.layer(its).neurons;
  std::uint64_t n = its.begin;
  for (const std::uint32_t pairs : block_widths(its.pairs(), layout.plan.wide)) {
    const std::uint64_t width = 2ULL * pairs;
    for (std::uint64_t row = rows.begin; row < rows.end; ++row)
      runs.add({(n - its.begin) * layout.layer(its).rows() + width * row,
                (row - rows.begin) * neurons + n, std::min(width, its.end - n), 1});
    n += width;
  }
}

/// layer_0, layer_0_recurrent, ...: [inputs, neurons], in the form of the files of
/// workload.weights, and the optimiser's state for each.
void add_weights(plan::Description& d, const std::shared_ptr<const Arrays>& s, std::uint32_t layer,
                 bool recurrent) {
  const Layer& what = s->network.layers[layer];
  const Interval rows{recurrent ? what.inputs : 0, recurrent ? what.rows() : what.inputs};
  const auto neurons = [s, layer](Tile tile) {
    const Neurons* const its = s->neurons(tile);
    return its != nullptr && its->layer == layer ? its : nullptr;
  };
  const auto add = [&](Kept kept, BufferId array) {
    d.tensor(
        {{weights_name(layer, recurrent, kept),
          kept == Kept::weights ? Role::weights : Role::result,
          Type::f32,
          {rows.size(), what.neurons}},
         array,
         [s, neurons, rows](Tile tile, Runs& runs) { add_rows(*s, *neurons(tile), rows, runs); },
         [s, neurons](Tile tile) {
           return neurons(tile) == nullptr ? 0 : s->weight_bytes(*neurons(tile));
         }});
  };
  add(Kept::weights, s->weights);
  if (!s->options.train) return;
  add(Kept::first_moments, s->first_moments);
  if (s->options.learning.adam()) add(Kept::second_moments, s->second_moments);
}

}  // namespace

std::string lists_name(VectorId vector) { return "spikes_" + vector_name(vector); }
std::string weights_name(std::uint32_t layer, bool recurrent, Kept kept) {
  const char* const what = kept == Kept::weights         ? "layer"
                           : kept == Kept::first_moments ? "first_moments"
                                                         : "second_moments";
  return fmt::format("{}_{}{}", what, layer, recurrent ? "_recurrent" : "");
}
std::string totals_name(VectorId vector) { return "totals_" + vector_name(vector); }

void add_tensors(plan::Description& description, const std::shared_ptr<const Arrays>& arrays) {
  for (VectorId v = 0; v < arrays->vector_count(); ++v)
    if (arrays->listed(v)) add_lists(description, arrays, v);
  for (std::uint32_t l = 0; l < arrays->network.layers.size(); ++l) {
    add_weights(description, arrays, l, false);
    if (arrays->network.layers[l].recurrent()) add_weights(description, arrays, l, true);
  }
}

void Snn::add_tensors(plan::Description& description) const {
  Tensor raster{
      "raster", Role::input, Type::i8, {turns_.samples(), options_.time_steps, data_.inputs()}};
  raster.given = [this](std::uint64_t first, std::span<std::byte> into) {
    std::fill(into.begin(), into.end(), std::byte{});
    const std::uint64_t inputs = data_.inputs();
    const std::uint64_t end = first + into.size();
    for (std::uint64_t row = first / inputs; row * inputs < end; ++row)
      for (const std::uint32_t input :
           data_.events(row / options_.time_steps, word(row % options_.time_steps)))
        if (row * inputs + input >= first && row * inputs + input < end)
          into[row * inputs + input - first] = std::byte{1};
  };
  description.tensor(std::move(raster));
  training::add_tensors(description, turns_, false,
                        [&data = data_](std::uint64_t sample) { return data.label(sample); });
}

}  // namespace tessera::snn
