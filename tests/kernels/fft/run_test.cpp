#include <cmath>
#include <numbers>

#include <doctest/doctest.h>

#include "kernels/fft/fft.h"
#include "tests/cli/saved.h"

using namespace tessera;
using namespace tessera::fft;

namespace {

using Numbers = std::vector<fft::Complex>;

/// The transform by its definition: a sum of N terms for each of N results.
Numbers definition(const Problem& problem, const Numbers& x) {
  const auto turn = [&](std::uint64_t product, std::uint64_t n) {
    return problem.sign() * 2 * std::numbers::pi * static_cast<double>(product % n) /
           static_cast<double>(n);
  };
  const std::uint64_t columns = problem.points;
  Numbers result(x.size());
  for (std::uint64_t array = 0; array < x.size(); array += problem.each())
    for (std::uint64_t k = 0; k < problem.each(); ++k)
      for (std::uint64_t i = 0; i < problem.each(); ++i)
        result[array + k] +=
            x[array + i] * std::polar(1.0, turn((k / columns) * (i / columns), problem.rows) +
                                               turn((k % columns) * (i % columns), columns));
  return result;
}

double largest_difference(const Numbers& a, const Numbers& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t k = 0; k < a.size(); ++k) most = std::max(most, std::abs(a[k] - b[k]));
  return most;
}

/// Reads a saved tensor of complex numbers.
Numbers saved_points(const test::CommandFolder& folder, const Problem& problem, const char* name) {
  const data::NumpyArray array = test::saved(folder, name);
  CHECK(array.dtype == "<c8");
  CHECK(array.shape == std::vector<std::uint64_t>{problem.all_rows(), problem.points, 2});
  Numbers points;
  for (std::size_t i = 0; i < array.values.size(); i += 2)
    points.emplace_back(array.values[i], array.values[i + 1]);
  return points;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("the reference is the transform by its definition") {
    for (const auto& [rows, batch] : {std::pair{1U, 1U}, {8U, 1U}, {1U, 6U}, {2U, 4U}}) {
      for (const Direction direction : {Direction::forward, Direction::inverse}) {
        const Problem problem{32, rows, direction, Layout::natural, batch};
        Numbers x(problem.total());
        for (std::size_t i = 0; i < x.size(); ++i)
          x[i] = {std::sin(static_cast<double>(i * i)), std::cos(static_cast<double>(3 * i))};
        CHECK(largest_difference(reference(problem, x), definition(problem, x)) < 1e-12);
      }
    }
  }
}

TEST_SUITE("cli") {
  TEST_CASE("saved X is the transform of saved x, in one dimension and two, and of each array") {
    const test::CommandFolder folder;
    for (const Problem& problem : {Problem{.points = 64}, Problem{.points = 16, .rows = 8},
                                   Problem{.points = 16, .batch = 10}})
      for (const char* layout : {"blocked", "natural"}) {
        test::run_saving(folder, test::tensors_config(fmt::format(
                                     R"("kernel": "fft", "points": {}, "rows": {}, "batch": {},
                                        "layout": "{}")",
                                     problem.points, problem.rows, problem.batch, layout)));
        const Numbers x = saved_points(folder, problem, "x");
        CHECK(largest_difference(saved_points(folder, problem, "X"), definition(problem, x)) <
              (problem.batch > 1 ? 1e-5 : 1e-4));
      }
  }
}
