#include <cmath>
#include <complex>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/cli/command.h"
#include "tests/cli/saved.h"

using namespace tessera;
using tessera::test::Answer;
using tessera::test::CommandFolder;
using test::run_saving;
using test::tensors_config;

/// Command-line tests of butterfly products.
namespace {

using Complex = std::complex<double>;

/// A product of the last run, read from its saved tensors.
struct Product {
  explicit Product(const CommandFolder& in)
      : folder(in), options(in.json("result/report.json").at("config").at("workload")) {}

  [[nodiscard]] std::uint64_t extent(const char* key) const { return options.at(key); }
  [[nodiscard]] std::vector<Complex> numbers(const std::string& name) const {
    const data::NumpyArray array = test::saved(folder, name);
    const bool pairs = array.dtype == "<c8";
    std::vector<Complex> all;
    for (std::size_t i = 0; i < array.values.size(); i += pairs ? 2 : 1)
      all.emplace_back(array.values[i], pairs ? array.values[i + 1] : 0);
    return all;
  }
  /// X multiplied by one factor after the other.
  [[nodiscard]] std::vector<Complex> multiplied() const {
    const std::uint64_t side = extent("block"), blocks = extent("features") / side;
    const std::uint64_t n = extent("n"), pairs = blocks / 2;
    const bool rotates = options.at("parameters") == "rotation";
    const std::vector<Complex> twiddles = numbers("twiddles");
    const auto element = [&](std::uint64_t twiddle, std::uint64_t i, std::uint64_t j) {
      const std::uint64_t quarter = i / side * 2 + j / side;
      if (!rotates)
        return twiddles.at(((4 * twiddle + quarter) * side + i % side) * side + j % side);
      const double angle = twiddles.at(twiddle).real();
      return Complex(i == j ? std::cos(angle) : i < j ? -std::sin(angle) : std::sin(angle));
    };
    std::vector<Complex> x = numbers("X");
    for (std::uint64_t stage = 0; (1U << stage) < blocks; ++stage) {
      const bool rises = options.at("order") == "increasing";
      const std::uint64_t stride = rises ? 1U << stage : pairs >> stage;
      std::vector<Complex> y(x.size());
      for (std::uint64_t pair = 0; pair < pairs; ++pair) {
        const std::uint64_t first = pair / stride * 2 * stride + pair % stride;
        const auto feature = [&](std::uint64_t i) {
          return (first + i / side * stride) * side + i % side;
        };
        for (std::uint64_t i = 0; i < 2 * side; ++i)
          for (std::uint64_t j = 0; j < 2 * side; ++j)
            for (std::uint64_t c = 0; c < n; ++c)
              y.at(feature(i) * n + c) +=
                  element(stage * pairs + pair, i, j) * x.at(feature(j) * n + c);
      }
      x = std::move(y);
    }
    return x;
  }

  const CommandFolder& folder;
  const config::Json options;
};

}  // namespace

TEST_SUITE("cli") {
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
    // Four floating-point slots for each of 180 words, 16 pairs and 5 factors, plus set-up.
    const double floating = std::stod(row[10]);
    CHECK(floating >= 4.0 * 180 * 16 * 5);
    CHECK(floating <= 1.1 * 4 * 180 * 16 * 5);
    CHECK(std::stod(row[11]) == doctest::Approx(100 * floating / std::stod(row[4])).epsilon(0.01));
  }

  TEST_CASE("twiddles join features two by two, pairs numbered as the README says") {
    const CommandFolder folder;
    for (const std::string keys :
         {R"("dtype": "f32", "layout": "planned")", R"("dtype": "f32", "layout": "blocked")",
          R"("dtype": "complex_f32", "layout": "planned")",
          R"("dtype": "complex_f32", "layout": "blocked", "order": "decreasing")",
          R"("parameters": "rotation")", R"("parameters": "rotation", "order": "decreasing")",
          R"("parameters": "rotation", "dtype": "complex_f32")",
          R"("parameters": "rotation", "dtype": "f16", "order": "decreasing")",
          R"("block": 4, "order": "decreasing")"}) {
      CAPTURE(keys);
      run_saving(folder,
                 tensors_config(R"("kernel": "butterfly", "features": 32, "n": 6, )" + keys));
      const Product product(folder);
      const double unit = product.options.at("dtype") == "f16" ? 0x1p-9 : 1e-6;
      const std::vector<Complex> expected = product.multiplied(), found = product.numbers("Y");
      REQUIRE(found.size() == expected.size());
      for (std::size_t i = 0; i < found.size(); ++i)
        CHECK(std::abs(found[i] - expected[i]) < unit * 10);
    }
  }
}
