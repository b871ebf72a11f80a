#include <optional>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"
#include "tests/cli/saved.h"

using namespace tessera;
using namespace tessera::test;

/// Options of a pixelfly layer.
namespace {

constexpr const char* kPixelfly = R"({"machine": {"extends": "bow", "tiles": 8},
  "workload": {"kernel": "pixelfly", "m": 32, "k": 48, "n": 9, "block": 4, "rank": 3}})";

Matrix scaled(Matrix matrix, double factor) {
  for (double& each : matrix.values) each *= factor;
  return matrix;
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("S, U and V come from files; the report counts parameters") {
    const CommandFolder folder{{"a.json", kPixelfly},
                               {"s.npy", numpy_counting({32, 48}, 5)},
                               {"u.npy", numpy_counting({32, 3}, 5)},
                               {"v.npy", numpy_counting({48, 3}, 5)}};
    folder.done(
        "run a.json --out result --set workload.matrix=s.npy --set workload.u=u.npy "
        "--set workload.v=v.npy");
    const auto report = folder.json("result/report.json");
    CHECK(report.at("check").at("passed") == true);
    const int nonzeros = 32 * 48 * 4 / 5 + 1;  // every fifth of them is 0
    const auto parameters = report.at("workload").at("parameters").get<int>();
    CHECK(std::abs(parameters - (nonzeros + 3 * (32 + 48))) <= 1);
    CHECK(report.at("work").at("useful_flops") == 2 * parameters * 9);
  }

  TEST_CASE(
      "a pixelfly layer is S + U V^T, or gamma S + (1 - gamma) U V^T, its gradients likewise") {
    const CommandFolder folder;
    for (const std::optional<double> gamma : {std::optional<double>(), {0.0}, {0.3}, {1.0}}) {
      const double of_s = gamma.value_or(1);
      const double of_uv = gamma ? 1 - *gamma : 1;
      const std::string pixelfly = fmt::format(
          R"("kernel": "pixelfly", "m": 32, "k": 32, "n": 12, "block": 4, "rank": 8,
             "dtype": "f32", "gamma": {}, "pass": )",
          gamma ? fmt::format("{}", *gamma) : "null");
      run_saving(folder, tensors_config(pixelfly + R"("forward")"));
      const Matrix u = matrix(folder, "U");
      const Matrix v = matrix(folder, "V");
      Matrix w = scaled(blocks(folder, "S", 32, 32), of_s);
      for (std::uint64_t i = 0; i < 32; ++i)
        for (std::uint64_t j = 0; j < 32; ++j)
          for (std::uint64_t q = 0; q < 8; ++q) w.at(i, j) += of_uv * u.at(i, q) * v.at(j, q);
      CHECK(compare(matrix(folder, "Y"), w, matrix(folder, "X"), 2e-5) == "equal");
      run_saving(folder, tensors_config(pixelfly + R"("grad_input")"));
      CHECK(compare(matrix(folder, "dX"), transposed(w), matrix(folder, "dY"), 2e-5) == "equal");
      run_saving(folder, tensors_config(pixelfly + R"("grad_weights")"));
      const Matrix x = matrix(folder, "X");
      const Matrix dy = matrix(folder, "dY");
      CHECK(
          compare_filled(blocks(folder, "dS", 32, 32), scaled(product(dy, transposed(x)), of_s)) ==
          (of_s == 0 ? 0 : test::saved(folder, "dS.data").values.size()));
      CHECK(compare(matrix(folder, "dU"), scaled(dy, of_uv), transposed(product(transposed(v), x)),
                    2e-5) == "equal");
      CHECK(compare(matrix(folder, "dV"), scaled(x, of_uv), transposed(product(transposed(u), dy)),
                    2e-5) == "equal");
    }
  }
}
