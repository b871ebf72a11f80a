#include "sim/trace/step_counter.h"

#include <doctest/doctest.h>

using namespace tessera;
using trace::StepCounter;

TEST_SUITE("unit") {
  TEST_CASE("few changes are samples where they happen, those of one time together") {
    StepCounter counter;
    counter.change(Cycle(7), -1);
    counter.change(Cycle(3), 5);
    counter.change(Cycle(7), -2);
    counter.change(Cycle(9), 1);
    const auto& samples = counter.take(Cycle(9));
    REQUIRE(samples.size() == 2);
    CHECK(samples[0].at == Cycle(3));
    CHECK(samples[0].value == 5);
    CHECK(samples[1].at == Cycle(7));
    CHECK(samples[1].value == 2);
    CHECK(counter.take(Cycle(9)).empty());
    CHECK(counter.take(Cycle(10)).at(0).value == 3);
  }

  TEST_CASE("many changes become few samples, each exact, the last one included") {
    for (std::uint64_t count = 17; count < 400; count += 13) {
      StepCounter counter;
      std::vector<std::uint64_t> times;
      for (std::uint64_t i = 0; i < count; ++i) {
        times.push_back(1000 + i * i * 31 % 977);
        counter.change(Cycle(times.back()), 1);
      }
      const auto& samples = counter.take(Cycle(5000));
      CHECK(samples.size() <= StepCounter::kMostSamples);
      for (const StepCounter::Sample& sample : samples) {
        std::int64_t expected = 0;
        for (const std::uint64_t time : times) expected += time <= sample.at.count() ? 1 : 0;
        CHECK(sample.value == expected);
      }
      CHECK(samples.back().value == static_cast<std::int64_t>(count));
    }
  }
}
