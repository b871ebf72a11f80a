#include <cmath>
#include <complex>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"
#include "tests/cli/saved.h"

using namespace tessera;
using tessera::test::Answer;
using tessera::test::CommandFolder;
using tessera::test::numpy_filled;
using test::matrix;
using test::Matrix;
using test::run_saving;
using test::tensors_config;

/// Options of butterfly products.
namespace {

constexpr const char* kButterfly = R"({"machine": {"extends": "bow", "tiles": 8},
  "workload": {"kernel": "butterfly", "features": 4, "n": 6}})";

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("twiddles and columns from files are multiplied") {
    const CommandFolder folder{{"a.json", kButterfly},
                               {"t.npy", numpy_filled({2, 2, 2, 2}, 0.5F)},
                               {"x.npy", numpy_filled({4, 6}, 2.0F)}};
    folder.done("run a.json --out result --set workload.twiddles=t.npy --set workload.x=x.npy");
    const auto report = folder.json("result/report.json");
    CHECK(report.at("check").at("passed") == true);
    CHECK(report.at("check").at("max_error") == 0);
    CHECK(report.at("workload").at("parameters") == 16);
  }

  TEST_CASE("--fit passes over numbers of features that are no power of two") {
    const CommandFolder folder;
    const Answer answer = folder.done("check - --fit workload.features",
                                      R"({"machine": {"extends": "bow", "tiles": 1},
      "workload": {"kernel": "butterfly", "features": 64, "n": 16}})");
    const std::string key = "workload.features: ";
    REQUIRE(answer.out.starts_with(key));
    const unsigned long value = std::stoul(answer.out.substr(key.size()));
    CHECK(value >= 64);
    CHECK((value & (value - 1)) == 0);
  }

  TEST_CASE("a profile tells what part of a codelet's slots is floating point") {
    const CommandFolder folder{{"a.json", R"({"machine": {"extends": "bow", "tiles": 1}, "workload":
      {"kernel": "butterfly", "features": 32, "n": 360, "plan": {"split_features": 1}}})"}};
    const Answer answer = folder.done("profile a.json --symbol butterfly_f32_free_1");
    std::istringstream lines(answer.out);
    std::string line, cell;
    while (std::getline(lines, line) && line.find('%') == std::string::npos) {
    }
    std::getline(lines, line);
    std::istringstream cells(line);
    std::vector<std::string> row;
    while (cells >> cell) row.push_back(cell);
    REQUIRE(row.size() == 14);
    // Four of a pair's words for each of 180 words, 16 pairs and 5 factors, and the set-up.
    const double floating = std::stod(row[10]);
    CHECK(floating >= 4.0 * 180 * 16 * 5);
    CHECK(floating <= 1.1 * 4 * 180 * 16 * 5);
    CHECK(std::stod(row[11]) == doctest::Approx(100 * floating / std::stod(row[4])).epsilon(0.01));
  }

  TEST_CASE("butterfly factors, real and complex, and the gradient of X") {
    const CommandFolder folder;
    constexpr std::uint64_t kFeatures = 16, kColumns = 6;
    using Complex = std::complex<double>;
    for (const std::string layout : {"planned", "blocked"})
      for (const bool is_complex : {false, true}) {
        run_saving(folder, tensors_config(fmt::format(
                               R"("kernel": "butterfly", "features": {}, "n": {},
                                       "dtype": "{}", "layout": "{}")",
                               kFeatures, kColumns, is_complex ? "complex_f32" : "f32", layout)));
        const std::size_t parts = is_complex ? 2 : 1;
        const std::vector<double> x = test::saved(folder, "X").values;
        const std::vector<double> found = test::saved(folder, "Y").values;
        const std::vector<double> twiddles = test::saved(folder, "twiddles").values;
        const auto number = [&](const std::vector<double>& of, std::uint64_t i) {
          return is_complex ? Complex(of.at(2 * i), of.at(2 * i + 1)) : Complex(of.at(i));
        };
        REQUIRE(x.size() == kFeatures * kColumns * parts);
        CHECK(test::saved(folder, "Y").dtype == (is_complex ? "<c8" : "<f4"));
        std::vector<Complex> y;
        for (std::uint64_t i = 0; i < kFeatures * kColumns; ++i) y.push_back(number(x, i));
        for (std::uint64_t stage = 0; stage < 4; ++stage)
          for (std::uint64_t low = 0; low < kFeatures; ++low) {
            if ((low >> stage & 1) != 0) continue;
            const std::uint64_t pair = (low >> (stage + 1) << stage) | (low & ((1U << stage) - 1));
            const std::uint64_t first = (stage * kFeatures / 2 + pair) * 4;
            for (std::uint64_t c = 0; c < kColumns; ++c) {
              Complex& a = y[low * kColumns + c];
              Complex& b = y[(low | 1U << stage) * kColumns + c];
              const Complex before = a;
              a = number(twiddles, first) * a + number(twiddles, first + 1) * b;
              b = number(twiddles, first + 2) * before + number(twiddles, first + 3) * b;
            }
          }
        double worst = 0;
        for (std::uint64_t i = 0; i < y.size(); ++i)
          worst = std::max(worst, std::abs(y[i] - number(found, i)));
        CHECK(worst < 1e-5);
      }
  }

  TEST_CASE("rotations turn features by their angles, pairs numbered as the README says") {
    const CommandFolder folder;
    for (const std::string order : {"increasing", "decreasing"}) {
      run_saving(folder,
                 tensors_config(fmt::format(R"("kernel": "butterfly", "features": 16, "n": 3,
                                     "parameters": "rotation", "order": "{}")",
                                            order)));
      Matrix y = matrix(folder, "X");
      const Matrix angles = matrix(folder, "twiddles");
      for (std::uint64_t stage = 0; stage < 4; ++stage) {
        const std::uint64_t stride = order == "increasing" ? 1U << stage : 8U >> stage;
        for (std::uint64_t i = 0; i < 8; ++i) {
          const std::uint64_t p = i / stride * 2 * stride + i % stride;
          const double t = angles.at(stage, i);
          for (std::uint64_t c = 0; c < 3; ++c) {
            const double first = y.at(p, c);
            const double second = y.at(p + stride, c);
            y.at(p, c) = std::cos(t) * first - std::sin(t) * second;
            y.at(p + stride, c) = std::sin(t) * first + std::cos(t) * second;
          }
        }
      }
      const Matrix found = matrix(folder, "Y");
      for (std::size_t i = 0; i < y.values.size(); ++i)
        CHECK(found.values[i] == doctest::Approx(y.values[i]).epsilon(1e-5));
    }
  }
}
