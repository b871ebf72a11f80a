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

namespace {

/// Weights by layer after a run whose check has passed.
std::vector<std::vector<float>> weights_of(const snn::Options& options) {
  const auto weights = [&](const test::Finished<snn::Snn>& run) {
    HostThreads one(1);
    nlohmann::json all;
    for (std::size_t l = 0; l < options.layers.size(); ++l)
      all.push_back(run.tensors.floats("layer_" + std::to_string(l), one));
    return all.dump();
  };
  const std::string said = test::told<snn::Snn>(options, test::small_machine(16), weights);
  CAPTURE(said);
  REQUIRE(nlohmann::json::accept(said));
  return nlohmann::json::parse(said);
}

/// Largest absolute difference between the elements of two vectors.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0;
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::abs(double(a[i]) - double(b[i])));
  return most;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("layers of any size train on lists of all neurons as with dense activations") {
    for (const std::uint32_t n : {1U, 2U, 3U, 5U, 7U, 10U, 11U}) {
      CAPTURE(n);
      snn::Options options;
      options.layers = {n, n + 2, 3};
      options.data = {.kind = snn::DataKind::custom, .inputs = 20, .classes = 3, .rate = 0.3};
      options.data.samples = options.batch = 4;
      options.max_activity = 1;
      options.time_steps = 10;
      options.neuron.threshold = 0.3;
      options.neuron.second_threshold = 0.1;
      options.steps = 3;
      options.weight_scale = 10;
      options.learning.rate = 0.1;
      options.steepness = 1;
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
