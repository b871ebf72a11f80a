#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "kernels/snn/snn.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::snn;
using test::small_machine;

namespace {

/// 60 addresses to four classes, about a third of the neurons active; 12 streams.
Options network(const std::vector<std::uint32_t>& layers) {
  Options options;
  options.layers = layers;
  options.data = {.kind = DataKind::custom, .inputs = 60, .classes = 4, .rate = 0.2, .samples = 12};
  options.max_activity = 0.3;
  options.time_steps = 7;
  options.batch = 6;
  options.steps = 3;
  options.weight_scale = 40;
  options.learning.rate = 0.05;
  return options;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("the best plan is one that fits, where that which takes least time does not") {
    Options options = network({30, 24, 4});
    const auto need = [&](Algorithm algorithm, std::uint32_t sram_kib) {
      options.plan.algorithm = algorithm;
      MeasuredCosts costs(small_machine(16, sram_kib));
      return costs.needs(Snn(options, costs).build()).memory.max_bytes;
    };
    constexpr std::uint32_t kKib = 1024;
    constexpr std::uint32_t kPlenty = 256;
    const std::uint64_t published = need(Algorithm::published, kPlenty);
    const std::uint64_t bits = need(Algorithm::bits, kPlenty);
    REQUIRE(need(Algorithm::best, kPlenty) == bits);
    const auto sram_kib = static_cast<std::uint32_t>(ceil_div<std::uint64_t>(published, kKib));
    REQUIRE(bits > sram_kib * kKib);
    CHECK(need(Algorithm::best, sram_kib) == published);
    options.plan.algorithm = Algorithm::best;
    CHECK(test::run_workload<Snn>(options, small_machine(16, sram_kib)) == "passed");
    // Where none fits, the one that needs least says so.
    const std::string why = "needs " + std::to_string(published) + " bytes";
    CHECK_THROWS_WITH_AS(need(Algorithm::best, sram_kib - 2), doctest::Contains(why.c_str()),
                         UserError);
  }

  TEST_CASE("the time of a tile follows the spikes it gets") {
    // Six samples on six workers: each event of a step is a gather of two slots, one of a pair of
    // neurons, or three of two pairs, in each of seven steps.
    struct Load {
      double cycles, events;
    };
    const auto load = [](double rate) -> Load {
      Options options = network({40, 4});
      options.data.rate = rate;
      options.data.inputs = 400;
      options.data.max_events = 400;
      options.train = false;
      options.steps = 1;
      options.neuron.threshold = 1e6;  // no spikes but the inputs'
      options.neuron.second_threshold = 1e6;
      double most = 0;
      const Data data(options.data, options.time_steps, options.seed);
      for (std::uint32_t t = 0; t < options.time_steps; ++t) {
        std::size_t longest = 0;
        for (std::uint32_t b = 0; b < options.batch; ++b)
          longest = std::max(longest, data.events(b, t).size());
        most += double(longest);
      }
      const std::string cycles =
          test::told<Snn>(options, small_machine(23), [](const test::Finished<Snn>& run) {
            return std::to_string(run.result.time.compute.count());
          });
      return {std::stod(cycles), most};
    };
    const Load few = load(0.1);
    const Load many = load(0.9);
    const double slots = (many.cycles - few.cycles) / (many.events - few.events) / 6;
    CHECK(slots >= 1.9);
    CHECK(slots <= 3.5);
  }
}
