#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "kernels/snn/program.h"

namespace tessera::snn {

using program::Role;
using program::Tensor;
using program::Type;

namespace {

std::string vector_name(VectorId vector) {
  return vector == 0 ? "input" : fmt::format("{}", vector - 1);
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

void ProgramBuilder::add_tensors() {
  for (VectorId v = 0; v < plan_.lists.size(); ++v)
    if (listed(v)) add_lists(v);
  for (std::uint32_t l = 0; l < network_.layers.size(); ++l) add_weights(l);
}

/// spikes_input, spikes_0, ...: [samples, steps, words], the lists of the last batch as tiles have
/// them; totals_0, ...: [samples, kTotals] over all batches.
void ProgramBuilder::add_lists(VectorId vector) {
  const std::uint64_t slots = std::uint64_t{options_.time_steps} + 1;
  Tensor spikes{lists_name(vector),
                vector == 0 ? Role::input : Role::result,
                Type::u32,
                {plan_.batch, slots, list_words(plan_.lists[vector].capacity)}};
  Tensor totals{totals_name(vector), Role::result, Type::u32, {plan_.batch, kTotals}};
  for (const Home& home : homes_[vector]) {
    spikes.parts.push_back({{home.stored}, word(slots * stride(vector))});
    totals.parts.push_back({{home.totals}, kTotals * 4});
  }
  spikes.runs = program::slices(spikes.shape);
  totals.runs = program::slices(totals.shape);
  program().add_tensor(std::move(spikes));
  if (vector > 0) program().add_tensor(std::move(totals));
}

/// layer_0, layer_0_recurrent, ...: [inputs, neurons], as the files of workload.weights are, and
/// what the optimiser keeps of each. A tile has its neurons in blocks, of each row after row.
void ProgramBuilder::add_weights(std::uint32_t layer) {
  const Layer& what = network_.layers[layer];
  std::vector<kernels::Interval> held;
  for (const Neurons& tile : neurons_[layer]) held.push_back({tile.begin, tile.end});
  const auto add = [&](bool recurrent, Kept kept, BufferId Neurons::*buffer) {
    const std::uint32_t first = recurrent ? what.inputs : 0;
    const std::uint32_t end = recurrent ? what.rows() : what.inputs;
    Tensor tensor{weights_name(layer, recurrent, kept),
                  kept == Kept::weights ? Role::weights : Role::result,
                  Type::f32,
                  {end - first, what.neurons}};
    for (const Neurons& tile : neurons_[layer])
      tensor.parts.push_back({{tile.*buffer}, tile.pairs * plane_bytes(layer)});
    tensor.runs = [held, first, end, rows = what.rows(), neurons = std::uint64_t{what.neurons},
                   wide = plan_.wide](std::size_t tile, program::Runs& runs) {
      std::uint64_t n = held[tile].begin;
      for (const std::uint32_t pairs :
           block_widths(word(ceil_div<std::uint64_t>(held[tile].size(), 2)), wide)) {
        const std::uint64_t width = 2ULL * pairs;
        for (std::uint64_t row = first; row < end; ++row)
          runs.add({(n - held[tile].begin) * rows + width * row, (row - first) * neurons + n,
                    std::min(width, held[tile].end - n), 1});
        n += width;
      }
    };
    program().add_tensor(std::move(tensor));
  };
  for (const bool recurrent : {false, true}) {
    if (recurrent && !what.recurrent()) continue;
    add(recurrent, Kept::weights, &Neurons::weights);
    if (!options_.train) continue;
    add(recurrent, Kept::first_moments, &Neurons::first_moments);
    if (options_.learning.adam()) add(recurrent, Kept::second_moments, &Neurons::second_moments);
  }
}

void Snn::add_tensors(program::Program& program) const {
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
  program.add_tensor(std::move(raster));
  training::add_tensors(program, turns_, false,
                        [&data = data_](std::uint64_t sample) { return data.label(sample); });
}

}  // namespace tessera::snn
