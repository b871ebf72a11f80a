#include <cmath>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "kernels/spmm_dynamic/spmm_dynamic.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::spmm_dynamic;
using sparse::BlockMatrix;
using sparse::Layout;

namespace {

using test::small_machine;

using View = std::function<std::string(const RunResult&, const SpmmDynamic&)>;

/// Runs all patterns with one program and race checks; "passed" or what went wrong.
std::string run(const Options& options, const std::vector<BlockMatrix>& patterns,
                std::uint32_t tiles, const View& view = {}) {
  const auto plan = [&](MachineCosts& costs) {
    return std::make_unique<SpmmDynamic>(options, patterns, costs);
  };
  return test::run_planned(options, small_machine(tiles, 128), plan, view);
}

struct Case {
  std::uint32_t block;
  program::Type dtype;
  Pass pass;
  program::Type partials = program::Type::f32;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const std::uint32_t block : {1U, 4U, 8U, 16U}) {
    for (const program::Type dtype : {program::Type::f16, program::Type::f32}) {
      for (const Pass pass : {Pass::forward, Pass::grad_input, Pass::grad_values})
        cases.push_back({block, dtype, pass});
    }
    if (block == 1) continue;
    for (const Pass pass : {Pass::forward, Pass::grad_input})
      cases.push_back({block, program::Type::f16, pass, program::Type::f16});
  }
  return cases;
}

/// A matrix of the blocks given by (row, column) in blocks, with values that tell places apart.
BlockMatrix matrix(std::uint32_t rows, std::uint32_t columns, std::uint32_t block,
                   const std::function<bool(std::uint32_t, std::uint32_t)>& holds) {
  BlockMatrix w{rows, columns, block, {0}, {}, {}, 0};
  for (std::uint32_t i = 0; i < w.block_rows(); ++i) {
    for (std::uint32_t j = 0; j < w.block_columns(); ++j) {
      std::uint32_t e = 0;
      const auto value = [&](std::uint64_t row, std::uint64_t column) {
        const std::uint32_t number = (i * 31 + j * 17 + e++ * 7) % 64;
        const bool inside = row < rows && column < columns;
        w.nonzeros += inside ? 1 : 0;
        return inside ? (static_cast<float>(number) - 31.5F) / 32 : 0;
      };
      if (holds(i, j)) w.append_elements(j, value);
    }
    w.end_row();
  }
  return w;
}

Options options_of(const Case& test, std::uint32_t n, const Pinned& plan = {}) {
  Options options;
  options.weights = {.block = test.block, .dtype = test.dtype};
  options.pass = test.pass;
  options.partials = test.partials;
  options.n = n;
  options.plan = plan;
  return options;
}

void check_all(std::uint32_t block_rows, std::uint32_t block_columns, std::uint32_t n,
               std::uint32_t tiles, const Pinned& plan,
               const std::function<bool(std::uint32_t, std::uint32_t)>& holds,
               std::uint32_t cut = 0, Layout layout = Layout::blocked) {
  for (const Case& test : all_cases()) {
    const std::uint32_t b = test.block;
    const BlockMatrix w = matrix(block_rows * b - std::min(cut, b - 1),
                                 block_columns * b - std::min(cut, b - 1), b, holds);
    Options options = options_of(test, n, plan);
    options.layout = layout;
    CHECK(run(options, {w}, tiles) == "passed");
  }
}

bool scattered(std::uint32_t i, std::uint32_t j) { return (i * 7 + j * 11 + i * j) % 5 == 0; }

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("a scattered pattern is right on one tile and on many, its X and Y blocks or rows") {
    for (const Layout layout : {Layout::blocked, Layout::natural}) {
      check_all(6, 8, 24, 1, {}, scattered, 0, layout);
      check_all(6, 8, 24, 12, {}, scattered, 0, layout);
      check_all(6, 8, 24, 12, {Algorithm::best, 3, 2, 2}, scattered, 0, layout);
      check_all(6, 8, 24, 12, {Algorithm::published}, scattered, 0, layout);
    }
    check_all(6, 8, 24, 12, {Algorithm::published, 3, 2, 2}, scattered);
  }

  TEST_CASE("sizes that nothing divides give the right products") {
    check_all(5, 7, 13, 12, {}, scattered, 3);
    check_all(5, 7, 13, 12, {Algorithm::best, 2, 3, 2}, scattered, 3, Layout::natural);
    for (const Layout layout : {Layout::blocked, Layout::natural})
      check_all(3, 9, 1, 12, {Algorithm::best, 3, 3, 1}, scattered, 1, layout);
  }

  TEST_CASE("rows of X and Y serve several patterns with one program") {
    for (const std::uint32_t block : {1U, 8U}) {
      Options options = options_of({block, program::Type::f16, Pass::forward}, 10);
      options.layout = Layout::natural;
      options.max_density = 0.5;
      CHECK(run(options,
                {matrix(6 * block, 8 * block, block, scattered),
                 matrix(6 * block, 8 * block, block,
                        [](std::uint32_t i, std::uint32_t j) { return i == j; })},
                12) == "passed");
    }
  }

  TEST_CASE("no nonzero, one nonzero, all nonzeros") {
    check_all(4, 5, 9, 8, {Algorithm::best, 2, 2, 2},
              [](std::uint32_t, std::uint32_t) { return false; });
    check_all(4, 5, 9, 8, {Algorithm::best, 2, 2, 2},
              [](std::uint32_t i, std::uint32_t j) { return i == 2 && j == 4; });
    check_all(4, 5, 9, 8, {Algorithm::best, 2, 2, 2},
              [](std::uint32_t, std::uint32_t) { return true; });
  }

  TEST_CASE("a dense row spills through all pools and is still right") {
    const auto dense_row = [](std::uint32_t i, std::uint32_t) { return i == 3; };
    const auto dense_column = [](std::uint32_t, std::uint32_t j) { return j == 1; };
    for (const Pinned& plan :
         {Pinned{Algorithm::best, 4, 1, 2}, Pinned{Algorithm::best, 1, 4, 2},
          Pinned{Algorithm::best, 4, 3, 1}, Pinned{Algorithm::best, 3, 3, 1}}) {
      check_all(9, 10, 9, 12, plan, dense_row);
      check_all(9, 10, 9, 12, plan, dense_column);
    }
  }

  TEST_CASE("a corner that holds everything travels as far as the host foresaw") {
    const BlockMatrix w =
        matrix(64, 96, 8, [](std::uint32_t i, std::uint32_t j) { return i < 2 && j < 3; });
    for (const Pass pass : {Pass::forward, Pass::grad_values}) {
      Options options = options_of({8, program::Type::f16, pass}, 16, {Algorithm::best, 4, 3, 1});
      const std::string text =
          run(options, {w}, 12, [](const RunResult& result, const SpmmDynamic& workload) {
            const Packing& packing = workload.packing(0);
            check(packing.spilled_blocks == 5, "{} blocks spilled", packing.spilled_blocks);
            return fmt::format(": {} steps along y, {} along x, {} supersteps",
                               packing.load.y_steps, packing.load.x_steps, result.supersteps);
          });
      // Distribution, 4 + 2 steps, a test of either loop around each pair of steps, the sum; a
      // gradient compares with home and goes back along y and x until it is there.
      const bool forward = pass == Pass::forward;
      CHECK(text ==
            fmt::format("passed: 4 steps along y, 2 along x, {} supersteps", forward ? 14 : 26));
    }
  }

  TEST_CASE("a plan for the pattern that is given foresees its imbalance and its steps") {
    const BlockMatrix w =
        matrix(256, 256, 8, [](std::uint32_t i, std::uint32_t j) { return i < 8 && j % 8 < i; });
    for (const Pass pass : {Pass::forward, Pass::grad_values}) {
      Options options = options_of({8, program::Type::f16, pass}, 24);
      const auto cycles = [&](const Pinned& plan) {
        options.plan = plan;
        const std::string text =
            run(options, {w}, 24, [](const RunResult& result, const SpmmDynamic& workload) {
              return fmt::format(
                  " {} {} {}", workload.prediction().cycles, result.time.total().count(),
                  workload.packing(0).load.y_steps + workload.packing(0).load.x_steps);
            });
        std::istringstream words(text);
        std::string passed;
        double predicted = 0;
        double simulated = 0;
        std::uint32_t steps = 0;
        words >> passed >> predicted >> simulated >> steps;
        CHECK(passed == "passed");
        return std::tuple{predicted, simulated, steps};
      };
      CAPTURE(static_cast<int>(pass));
      const auto [predicted, simulated, steps] = cycles({Algorithm::best});
      CHECK(std::abs(predicted - simulated) < 0.01 * simulated);
      CHECK(simulated < std::get<1>(cycles({Algorithm::published})));
      const auto [travelling, travelled, many] = cycles({Algorithm::best, 4, 6, 1});
      CHECK(many > 0);
      CHECK(std::abs(travelling - travelled) < 0.01 * travelled);
    }
  }

  TEST_CASE("one program runs with several patterns, each right") {
    for (const Case& test : all_cases()) {
      const std::uint32_t b = test.block;
      const std::vector<BlockMatrix> patterns = {
          matrix(6 * b, 8 * b, b, scattered),
          matrix(6 * b, 8 * b, b, [](std::uint32_t i, std::uint32_t) { return i == 1; }),
          matrix(6 * b, 8 * b, b, [](std::uint32_t, std::uint32_t) { return false; }),
          matrix(6 * b, 8 * b, b, [](std::uint32_t i, std::uint32_t j) { return i == j; })};
      Options options = options_of(test, 10, {Algorithm::best, 3, 2, 2});
      options.max_density = 0.5;
      CHECK(run(options, patterns, 12) == "passed");
    }
  }
}
