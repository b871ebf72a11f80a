#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/saved.h"

using namespace tessera;
using test::blocks;
using test::CommandFolder;
using test::compare;
using test::compare_filled;
using test::matrix;
using test::Matrix;
using test::product;
using test::run_saving;
using test::tensors_config;
using test::transposed;

/// Inputs and results in files: what is saved is what was computed, whatever lies where.
TEST_SUITE("cli") {
  TEST_CASE("a pixelfly layer is S + U V^T, its gradients likewise") {
    const CommandFolder folder;
    const std::string pixelfly = R"("kernel": "pixelfly", "m": 32, "k": 32, "n": 12, "block": 4,
                                 "rank": 8, "dtype": "f32", "pass": )";
    run_saving(folder, tensors_config(pixelfly + R"("forward")"));
    Matrix w = blocks(folder, "S", 32, 32);
    const Matrix u = matrix(folder, "U");
    const Matrix v = matrix(folder, "V");
    for (std::uint64_t i = 0; i < 32; ++i)
      for (std::uint64_t j = 0; j < 32; ++j)
        for (std::uint64_t q = 0; q < 8; ++q) w.at(i, j) += u.at(i, q) * v.at(j, q);
    CHECK(compare(matrix(folder, "Y"), w, matrix(folder, "X"), 2e-5) == "equal");
    run_saving(folder, tensors_config(pixelfly + R"("grad_input")"));
    CHECK(compare(matrix(folder, "dX"), transposed(w), matrix(folder, "dY"), 2e-5) == "equal");

    run_saving(folder, tensors_config(pixelfly + R"("grad_weights")"));
    const Matrix x = matrix(folder, "X");
    const Matrix dy = matrix(folder, "dY");
    CHECK(compare(matrix(folder, "dU"), dy, transposed(product(transposed(v), x)), 2e-5) ==
          "equal");
    CHECK(compare(matrix(folder, "dV"), x, transposed(product(transposed(u), dy)), 2e-5) ==
          "equal");
    CHECK(compare_filled(blocks(folder, "dS", 32, 32), product(dy, transposed(x))) ==
          test::saved(folder, "dS.data").values.size());
  }

  TEST_CASE("with gamma a pixelfly layer is gamma S + (1 - gamma) U V^T, its gradients likewise") {
    const CommandFolder folder;
    for (const double gamma : {0.0, 0.3, 1.0}) {
      const std::string pixelfly = fmt::format(
          R"("kernel": "pixelfly", "m": 32, "k": 32, "n": 12, "block": 4, "rank": 8,
             "dtype": "f32", "gamma": {}, "pass": )",
          gamma);
      run_saving(folder, tensors_config(pixelfly + R"("forward")"));
      const Matrix u = matrix(folder, "U");
      const Matrix v = matrix(folder, "V");
      Matrix w = blocks(folder, "S", 32, 32);
      for (double& each : w.values) each *= gamma;
      for (std::uint64_t i = 0; i < 32; ++i)
        for (std::uint64_t j = 0; j < 32; ++j)
          for (std::uint64_t q = 0; q < 8; ++q) w.at(i, j) += (1 - gamma) * u.at(i, q) * v.at(j, q);
      CHECK(compare(matrix(folder, "Y"), w, matrix(folder, "X"), 2e-5) == "equal");
      run_saving(folder, tensors_config(pixelfly + R"("grad_input")"));
      CHECK(compare(matrix(folder, "dX"), transposed(w), matrix(folder, "dY"), 2e-5) == "equal");
      run_saving(folder, tensors_config(pixelfly + R"("grad_weights")"));
      const Matrix x = matrix(folder, "X");
      const Matrix dy = matrix(folder, "dY");
      Matrix sparse = product(dy, transposed(x));
      for (double& each : sparse.values) each *= gamma;
      CHECK(compare_filled(blocks(folder, "dS", 32, 32), sparse) ==
            (gamma == 0 ? 0 : test::saved(folder, "dS.data").values.size()));
      Matrix left = dy;
      for (double& each : left.values) each *= 1 - gamma;
      CHECK(compare(matrix(folder, "dU"), left, transposed(product(transposed(v), x)), 2e-5) ==
            "equal");
      left = x;
      for (double& each : left.values) each *= 1 - gamma;
      CHECK(compare(matrix(folder, "dV"), left, transposed(product(transposed(u), dy)), 2e-5) ==
            "equal");
    }
  }
}
