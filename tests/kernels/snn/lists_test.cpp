#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "kernels/snn/snn.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using test::small_machine;

/// What lists of spikes hold, and what is said of spikes that they leave out.
namespace {

constexpr std::initializer_list<std::uint32_t> kSizes{1, 2, 3, 5, 7, 10, 11};

snn::Options lists_of(const std::vector<std::uint32_t>& layers) {
  snn::Options options;
  options.layers = layers;
  options.data = {.kind = snn::DataKind::custom,
                  .inputs = 20,
                  .classes = layers.back(),
                  .rate = 0.3,
                  .samples = 4};
  options.max_activity = 1;
  options.time_steps = 10;
  options.neuron.threshold = 0.3;
  options.neuron.second_threshold = 0.1;
  options.batch = 4;
  options.steps = 3;
  options.weight_scale = 10;
  options.learning.rate = 0.1;
  options.steepness = 1;
  return options;
}

/// What is told of a run whose check has passed.
template <class Tell>
nlohmann::json told_of(const snn::Options& options, std::uint32_t tiles, const Tell& tell) {
  const std::string said = test::told<snn::Snn>(options, small_machine(tiles),
                                                [&](const auto& run) { return tell(run).dump(); });
  CAPTURE(said);
  REQUIRE(nlohmann::json::accept(said));
  return nlohmann::json::parse(said);
}

/// Weights after a run, by layer.
std::vector<std::vector<float>> weights_of(const snn::Options& options) {
  return told_of(options, 16, [&](const auto& run) {
    HostThreads one(1);
    nlohmann::json weights;
    for (std::size_t l = 0; l < options.layers.size(); ++l)
      weights.push_back(run.tensors.floats("layer_" + std::to_string(l), one));
    return weights;
  });
}

/// Largest difference between two lists of numbers.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0;
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::abs(double(a[i]) - double(b[i])));
  return most;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("lists hold all neurons of a layer at an activity of 1, all outputs at any") {
    const auto capacities = [](std::uint32_t neurons, std::uint32_t outputs, double activity) {
      snn::Options options = lists_of({neurons, outputs});
      options.max_activity = activity;
      MeasuredCosts costs(small_machine(16));
      std::vector<std::uint32_t> found;
      const auto plan = snn::Snn(options, costs).plan();
      for (const auto& layer : plan.at("layers")) found.push_back(layer.at("max_spikes"));
      return found;
    };
    for (const std::uint32_t n : kSizes) {
      CAPTURE(n);
      CHECK(capacities(n, 3, 1) == std::vector<std::uint32_t>{n, 3});
      CHECK(capacities(12, std::max(n, 2U), 0.01) == std::vector{2U, std::max(n, 2U)});
    }
    CHECK(capacities(11, 2, 0.9) == std::vector{8U, 2U});
  }

  TEST_CASE("layers of any size train on lists of all neurons as with dense activations") {
    for (const std::uint32_t n : kSizes) {
      CAPTURE(n);
      snn::Options options = lists_of({n, n + 2, 3});
      const auto on_lists = weights_of(options);
      options.activations = snn::Activations::dense;
      const auto dense = weights_of(options);
      options.train = false;
      const auto before = weights_of(options);
      for (std::size_t layer = 0; layer < dense.size(); ++layer) {
        CAPTURE(layer);
        const double change = distance(dense[layer], before[layer]);
        CHECK(change > 1e-4);
        CHECK(distance(on_lists[layer], dense[layer]) <= 1e-3 * change);
      }
    }
  }
}
