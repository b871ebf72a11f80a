#include <array>
#include <cmath>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "kernels/fft/fft.h"
#include "sim/config/writers.h"
#include "tests/kernels/planned.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::fft;

namespace {

using test::small_machine;

/// "passed", or what went wrong; the simulated cycles have to be the predicted ones but for 10 %.
std::string run(const Options& options, const MachineConfig& machine) {
  return test::run_as_predicted<Fft>(options, machine, 0.10);
}

Options options_of(std::uint32_t rows, std::uint32_t points) {
  Options options;
  options.problem.rows = rows;
  options.problem.points = points;
  return options;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("every length is transformed both ways, on few tiles and on many") {
    for (std::uint32_t points = 2; points <= 4096; points *= 2) {
      for (const Direction direction : {Direction::forward, Direction::inverse}) {
        for (const std::uint32_t tiles : {1U, 5U, 48U}) {
          for (const Layout layout : {Layout::natural, Layout::blocked}) {
            Options options = options_of(1, points);
            options.problem.direction = direction;
            options.problem.layout = layout;
            CHECK(run(options, small_machine(tiles)) == "passed");
          }
        }
      }
    }
  }

  TEST_CASE("arrays of every form are transformed along both dimensions") {
    for (const std::uint32_t rows : {2U, 4U, 8U, 64U}) {
      for (const std::uint32_t points : {2U, 4U, 16U, 128U}) {
        CHECK(run(options_of(rows, points), small_machine(1, 512)) == "passed");
        CHECK(run(options_of(rows, points), small_machine(11)) == "passed");
      }
    }
  }

  TEST_CASE("the arrays of a batch are transformed each alone, on few tiles and on many") {
    for (const std::uint32_t batch : {2U, 6U, 64U}) {
      for (const std::uint64_t size : {0U, 1U, 2U, 3U, 4U}) {
        const std::uint32_t rows = size == 4 ? 4 : 1;
        const std::uint32_t points = std::array{2U, 4U, 256U, 1024U, 16U}[size];
        for (const std::uint32_t tiles : {1U, 5U, 48U}) {
          for (const Layout layout : {Layout::natural, Layout::blocked}) {
            Options options = options_of(rows, points);
            options.problem.batch = batch;
            options.problem.layout = layout;
            CHECK(run(options, small_machine(tiles, 2048)) == "passed");
          }
        }
      }
    }
  }

  TEST_CASE("a batch is dealt to tiles: nothing moves between phases of short arrays") {
    Options options = options_of(1, 64);
    options.problem.batch = 96;
    const auto fft = test::planned<Fft>(options, small_machine(48));
    CHECK(fft.plan().at("lengths").front() == 96);
    CHECK(fft.plan().at("parts").front() == 48);
    CHECK(fft.useful_flops() == 5 * 96 * 64 * 6);
  }

  TEST_CASE("every plan gives the same transform") {
    struct Cut {
      std::uint32_t rows, points;
      Plan plan;
      std::uint32_t batch = 1;
    };
    const std::vector<Cut> cuts = {{1, 256, {{256}, {}, {4, 4, 4, 4}}},
                                   {1, 256, {{16, 16}, {3}, {2, 2, 2, 2, 4, 4}}},
                                   {1, 256, {{4, 8, 8}, {2, 3}, {4, 2, 4, 4, 2}}},
                                   {1, 256, {{8, 2, 16}, {1, 1}, {4, 2, 2, 4, 4}}},
                                   {1, 256, {{4, 4, 4, 4}, {2, 2, 2}, {4, 4, 4, 4}}},
                                   {16, 16, {{16, 16}, {8}, {4, 4, 4, 4}}},
                                   {16, 16, {{4, 4, 16}, {2, 2}, {4, 2, 2, 4, 4}}},
                                   {16, 16, {{16, 4, 4}, {3, 2}, {4, 4, 4, 4}}},
                                   {16, 64, {{4, 4, 4, 16}, {2, 2, 2}, {4, 4, 4, 4, 4}}},
                                   {1, 256, {{32, 8}, {3}, {8, 4, 8}}},
                                   {1, 256, {{256}, {}, {8, 4, 2, 4}}},
                                   {1, 512, {{8, 8, 8}, {2, 4}, {8, 8, 8}}},
                                   {32, 64, {{32, 64}, {6}, {8, 2, 2, 8, 2, 4}}},
                                   {4, 64, {{4, 4, 4, 4}, {2, 2, 2}, {4, 4, 4, 4}}},
                                   {1, 64, {{6, 8, 8}, {3, 3}, {8, 8}}, 6},
                                   {1, 64, {{6, 4, 4, 4}, {1, 2, 2}, {4, 4, 4}}, 6},
                                   {4, 16, {{10, 4, 4, 4}, {2, 2, 2}, {4, 4, 4}}, 10}};
    for (const Cut& cut : cuts) {
      Options options = options_of(cut.rows, cut.points);
      options.problem.batch = cut.batch;
      options.plan = cut.plan;
      for (const Direction direction : {Direction::forward, Direction::inverse}) {
        options.problem.direction = direction;
        CHECK(run(options, small_machine(9)) == "passed");
      }
    }
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
