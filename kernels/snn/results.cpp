#include <algorithm>
#include <cstring>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/snn/program.h"
#include "sim/report/units.h"

/// A run's results: losses, spikes, and what it left out.
namespace tessera::snn {

namespace {

using report::grouped;

/// Totals of a layer's lists over all batches, summed over the batch's samples.
struct Totals {
  double spikes = 0, listed = 0;
  std::uint64_t overflowed = 0, spikes_dropped = 0, carriers_dropped = 0;
  double most = 0;  ///< largest number of spikes of a sample
};

Totals totals_of(const TensorReader& tensors, VectorId vector) {
  HostThreads one(1);
  Totals sum;
  const auto words = words_of(tensors, totals_name(vector), one);
  for (std::size_t b = 0; b < words.size(); b += kTotals) {
    sum.spikes += words[b];
    sum.listed += words[b + 1];
    sum.overflowed += words[b + 2];
    sum.spikes_dropped += words[b + 3];
    sum.carriers_dropped += words[b + 4];
    sum.most = std::max(sum.most, double(words[b]));
  }
  return sum;
}

/// Maximum rows of raster.csv. Samples are written whole while there is room; the first may be cut.
constexpr std::size_t kMostSpikes = 100'000;

std::vector<std::uint32_t> as_words(const std::vector<std::byte>& bytes) {
  std::vector<std::uint32_t> words(bytes.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

}  // namespace

std::vector<std::uint32_t> words_of(const TensorReader& tensors, const std::string& name,
                                    HostThreads& threads) {
  return as_words(tensors.bytes(name, threads));
}

nlohmann::ordered_json Snn::results(const TensorReader& tensors) const {
  nlohmann::ordered_json json = training::results(tensors, turns_);
  const std::uint64_t events = add_events(json);
  if (dense_) return json;
  const SynapticEvents between = add_lists(json, tensors);
  if (turns_.test_steps == 0) json["counts"] = counts(events, between.of_spikes);
  json["useful_flops"] = flops_of(events, between);
  json["raster"] = raster(tensors);
  return json;
}

/// Reports how many events of the used samples have no place in their step's list. Returns the
/// number of events that the training steps receive.
std::uint64_t Snn::add_events(nlohmann::ordered_json& json) const {
  const std::uint64_t samples = options_.fed() ? options_.data.samples : options_.batch;
  const std::uint64_t turns = std::uint64_t{turns_.steps} * options_.batch;
  EventCount all;
  std::uint64_t taken = 0;
  for (std::uint64_t sample = 0; sample < std::min(samples, turns); ++sample) {
    const EventCount events = data_.count_events(sample);
    all += events;
    taken += events.taken * (turns / samples + (sample < turns % samples ? 1 : 0));
  }
  const std::uint64_t tested = std::uint64_t{turns_.test_steps} * options_.batch;
  for (std::uint64_t sample = 0; sample < tested; ++sample)
    all += data_.count_events(options_.data.samples + sample);
  json["events_dropped"] = all.left_out;
  if (all.left_out > 0)
    json["dropped"].push_back(fmt::format(
        "events dropped: {} of {}, more than {} inputs in a step (workload.data.max_events)",
        grouped(all.left_out), grouped(all.left_out + all.taken), data_.max_events()));
  json["events_merged"] = data_.merged();
  if (data_.merged() > 0)
    json["dropped"].push_back(
        fmt::format("events merged: {} with an earlier event of the same input and step, or of "
                    "values other than 1 (workload.data)",
                    grouped(data_.merged())));
  if (options_.data.recordings.empty()) return taken;
  const auto left_out = [&](const char* key, std::uint64_t count, const char* why) {
    json[key] = count;
    if (count > 0)
      json["dropped"].push_back(fmt::format("events not used: {} {}", grouped(count), why));
  };
  left_out("events_cropped", data_.cropped(),
           "after the last step (workload.time_steps, workload.data.step_microseconds)");
  left_out("events_turned_off", data_.turned_off(), "of polarity off (workload.data.polarity)");
  for (const std::string& line : data_.not_used()) json["dropped"].push_back(line);
  return taken;
}

/// Reports what lists hold and leave out. Returns the synaptic events between neurons.
Snn::SynapticEvents Snn::add_lists(nlohmann::ordered_json& json,
                                   const TensorReader& tensors) const {
  const double lists = static_cast<double>(options_.time_steps) *
                       (turns_.steps + turns_.test_steps) * options_.batch;
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  SynapticEvents events;
  Totals all;
  for (VectorId v = 1; v < plan_.lists.size(); ++v) {
    if (plan_.lists[v].capacity == 0) continue;
    const Layer& layer = network_.layers[v - 1];
    const Totals totals = totals_of(tensors, v);
    const double fan_out = (v < network_.layers.size() ? network_.layers[v].neurons : 0) +
                           (layer.recurrent() ? layer.neurons : 0);
    events.of_spikes += totals.spikes * fan_out;
    events.of_listed += totals.listed * fan_out;
    const double mean = totals.spikes / options_.batch;
    layers.push_back({{"spikes_a_step", totals.spikes / lists},
                      {"listed_a_step", totals.listed / lists},
                      {"overflowed_lists", totals.overflowed},
                      {"spikes_dropped", totals.spikes_dropped},
                      {"carriers_dropped", totals.carriers_dropped},
                      {"activity", totals.spikes / lists / layer.neurons},
                      {"imbalance_of_samples", mean > 0 ? totals.most / mean : 1}});
    all.overflowed += totals.overflowed;
    all.spikes_dropped += totals.spikes_dropped;
    all.carriers_dropped += totals.carriers_dropped;
    // Without training, dropped carriers of gradient have no effect.
    if (totals.overflowed == 0 || (!options_.train && totals.spikes_dropped == 0)) continue;
    json["dropped"].push_back(fmt::format(
        "spikes dropped: {} lists of layer {} overflowed ({:.3g} % of its lists), {} spikes{} left "
        "out (workload.max_activity; 1 keeps all)",
        grouped(totals.overflowed), v - 1, 100 * double(totals.overflowed) / lists,
        grouped(totals.spikes_dropped),
        options_.train ? fmt::format(" and {} neurons that carry gradient only",
                                     grouped(totals.carriers_dropped))
                       : ""));
  }
  json["overflowed_lists"] = all.overflowed;
  json["spikes_dropped"] = all.spikes_dropped;
  json["carriers_dropped"] = all.carriers_dropped;
  json["layers"] = std::move(layers);
  return events;
}

/// Work of the measured turns: `inputs` events of the inputs, `between` synaptic events between
/// neurons.
nlohmann::ordered_json Snn::counts(std::uint64_t inputs, double between) const {
  const std::uint64_t inferences = std::uint64_t{turns_.steps} * options_.batch;
  return {{"inferences", inferences},
          {"neuron_updates", inferences * options_.time_steps * network_.neurons()},
          {"synaptic_events",
           inputs * network_.layers.front().neurons + static_cast<std::uint64_t>(between)}};
}

/// One addition per synaptic event; training adds one for the weight's gradient, and a multiply-add
/// per event of a listed neuron, spike or not. Runs with tests: only the share of the other steps.
std::uint64_t Snn::flops_of(std::uint64_t inputs, const SynapticEvents& between) const {
  const double share = static_cast<double>(turns_.steps) / (turns_.steps + turns_.test_steps);
  const double spikes =
      static_cast<double>(inputs) * network_.layers.front().neurons + share * between.of_spikes;
  const double flops = options_.train ? 2 * spikes + 2 * share * between.of_listed : spikes;
  return static_cast<std::uint64_t>(flops);
}

/// The listed spikes of the last batch: for inputs (layer 0) those that a step receives, for layers
/// those that it makes. Also counts the spikes beyond kMostSpikes.
nlohmann::ordered_json Snn::raster(const TensorReader& tensors) const {
  std::string csv = "sample,layer,step,neuron\n";
  std::size_t written = 0, left_out = 0;
  std::uint32_t samples = 0;
  for (std::uint32_t b = 0; b < options_.batch; ++b) {
    const std::vector<Spike> all = spikes_of(tensors, b);
    if (b > 0 && (left_out > 0 || written + all.size() > kMostSpikes)) {
      left_out += all.size();
      continue;
    }
    ++samples;
    for (const auto& [vector, step, neuron] : all) {
      if (written == kMostSpikes) {
        ++left_out;
        continue;
      }
      csv += fmt::format("{},{},{},{}\n", b, vector, step, neuron);
      ++written;
    }
  }
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (VectorId v = 0; v < plan_.lists.size(); ++v)
    if (plan_.lists[v].capacity > 0)
      layers.push_back({{"layer", v}, {"neurons", plan_.lists[v].neurons}});
  return {
      {"samples", samples},   {"of_samples", options_.batch}, {"time_steps", options_.time_steps},
      {"spikes", written},    {"left_out", left_out},         {"layers", std::move(layers)},
      {"csv", std::move(csv)}};
}

/// A sample's listed spikes, sorted by step, vector and neuron.
std::vector<Snn::Spike> Snn::spikes_of(const TensorReader& tensors, std::uint32_t sample) const {
  std::vector<Spike> all;
  for (VectorId v = 0; v < plan_.lists.size(); ++v) {
    if (plan_.lists[v].capacity == 0) continue;
    const std::vector<std::uint32_t> words = as_words(tensors.slice(lists_name(v), sample));
    const std::size_t each = list_words(plan_.lists[v].capacity);
    for (std::uint32_t t = 0; t < options_.time_steps; ++t) {
      const std::uint32_t* const list = &words[each * (v == 0 ? t : t + 1)];
      for (std::uint32_t i = 0; i < list[0]; ++i) all.push_back({v, t, list[kListHeader + i]});
    }
  }
  std::ranges::sort(all, {},
                    [](const Spike& one) { return std::tuple(one.step, one.vector, one.neuron); });
  return all;
}

}  // namespace tessera::snn
