#include <cmath>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "kernels/fft/fft.h"
#include "sim/config/writers.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::fft;

namespace {

using test::small_machine;

Options options_of(std::uint32_t rows, std::uint32_t points) {
  Options options;
  options.problem.rows = rows;
  options.problem.points = points;
  return options;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("a batch is dealt to tiles: nothing moves between phases of short arrays") {
    Options options = options_of(1, 64);
    options.problem.batch = 96;
    const auto fft = test::planned<Fft>(options, small_machine(48));
    CHECK(fft.plan().at("lengths").front() == 96);
    CHECK(fft.plan().at("parts").front() == 48);
    CHECK(fft.useful_flops() == 5 * 96 * 64 * 6);
  }

  TEST_CASE("the reference is the transform by its definition") {
    for (const auto& [rows, batch] : {std::pair{1U, 1U}, {8U, 1U}, {1U, 6U}, {2U, 4U}}) {
      for (const Direction direction : {Direction::forward, Direction::inverse}) {
        const Problem problem{32, rows, direction, Layout::natural, batch};
        std::vector<fft::Complex> x(problem.total());
        for (std::size_t i = 0; i < x.size(); ++i)
          x[i] = {std::sin(static_cast<double>(i * i)), std::cos(static_cast<double>(3 * i))};
        const auto found = reference(problem, x);
        const auto expected = definition(problem, x);
        for (std::size_t k = 0; k < x.size(); ++k) CHECK(std::abs(found[k] - expected[k]) < 1e-12);
      }
    }
  }
}
