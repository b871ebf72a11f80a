#include <cmath>
#include <complex>
#include <filesystem>
#include <functional>
#include <numbers>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/cli/saved.h"

using namespace tessera;
using test::Answer;
using test::blocks;
using test::check_refused;
using test::CommandFolder;
using test::compare;
using test::matrix;
using test::Matrix;
using test::transposed;

/// Inputs and results in files: what is saved is what was computed, whatever lies where.
namespace {

constexpr double kHalf = 0x1p-9;  ///< some roundings of f16, for each of what is added up
constexpr double kSingle = 0x1p-20;

std::string config_of(const std::string& workload, int tiles = 8) {
  return fmt::format(R"({{"machine": {{"extends": "bow", "tiles": {}}}, "workload": {{{}}},
    "report": {{"tensors": "all"}}}})",
                     tiles, workload);
}

const std::string kGemmKeys = R"("kernel": "gemm", "m": 40, "n": 20, "k": 48, "dtype": "f16")";

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix made{a.rows, b.columns, std::vector<double>(a.rows * b.columns)};
  for (std::uint64_t i = 0; i < a.rows; ++i)
    for (std::uint64_t j = 0; j < b.columns; ++j)
      for (std::uint64_t k = 0; k < a.columns; ++k) made.at(i, j) += a.at(i, k) * b.at(k, j);
  return made;
}

/// How many elements of `found` are not zero; each of these must be as expected.
std::size_t compare_filled(const Matrix& found, const Matrix& expected) {
  std::size_t filled = 0;
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    if (found.values[i] == 0) continue;
    ++filled;
    CHECK(std::abs(found.values[i] - expected.values[i]) < 1e-4);
  }
  return filled;
}

/// Runs it into the folder `result`.
void run_saving(const CommandFolder& folder, const std::string& text,
                const std::string& more = "") {
  folder.write("a.json", text);
  const Answer answer = folder.call("run a.json --out result " + more);
  CAPTURE(text);
  CAPTURE(answer.err);
  REQUIRE(answer.code == 0);
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("a dense product's C is A times B, in both layouts, whichever operand stays") {
    const CommandFolder folder;
    for (const std::string stationary : {"a", "b"})
      for (const std::string type : {"f16", "f32"}) {
        run_saving(folder, config_of(kGemmKeys),
                   fmt::format("--set workload.dtype={} --set workload.partials=f32 --set "
                               "'workload.plan={{\"stationary\": \"{}\", \"partials\": \"f32\", "
                               "\"split_m\": 2, \"split_n\": 2, \"split_k\": 2}}'",
                               type, stationary));
        CHECK(test::saved(folder, "A").dtype == (type == "f16" ? "<f2" : "<f4"));
        CHECK(compare(matrix(folder, "C"), matrix(folder, "A"), matrix(folder, "B"),
                      type == "f16" ? kHalf : kSingle) == "equal");
      }
    run_saving(folder, config_of(kGemmKeys + R"(, "layout": "natural")"));
    CHECK(compare(matrix(folder, "C"), matrix(folder, "A"), matrix(folder, "B"), kHalf) == "equal");
  }

  TEST_CASE("sparse products: Y is W X, in blocks and single elements, given early or late") {
    const CommandFolder folder;
    for (const std::string kernel : {"spmm_static", "spmm_dynamic"})
      for (const int block : {1, 4})
        for (const std::string layout : {"blocked", "natural"}) {
          run_saving(folder, config_of(fmt::format(
                                 R"("kernel": "{}", "m": 36, "k": 28, "n": 10, "block": {},
                                         "density": 0.3, "dtype": "f16", "layout": "{}")",
                                 kernel, block, layout)));
          CHECK(compare(matrix(folder, "Y"), blocks(folder, "W", 36, 28), matrix(folder, "X"),
                        kHalf) == "equal");
        }
  }

  TEST_CASE("gradients of a sparse product are those of its matrices, of every pattern") {
    const CommandFolder folder;
    const std::string workload = R"("kernel": "spmm_dynamic", "m": 36, "k": 28, "n": 10,
      "block": 4, "density": 0.3, "dtype": "f32", "patterns": 2, "pass": )";
    run_saving(folder, config_of(workload + R"("grad_input")"));
    for (const std::string pattern : {".0", ".1"})
      CHECK(compare(matrix(folder, "Xg" + pattern), blocks(folder, "WT", 28, 36, pattern),
                    matrix(folder, "Yg"), kSingle) == "equal");
    run_saving(folder, config_of(workload + R"("grad_values")"));
    for (const std::string pattern : {".0", ".1"}) {
      const Matrix found = blocks(folder, "Wg", 36, 28, pattern);
      const Matrix expected = product(matrix(folder, "Yg"), transposed(matrix(folder, "X")));
      CHECK(compare_filled(found, expected) ==
            test::saved(folder, "Wg" + pattern + ".data").values.size());
    }
  }

  TEST_CASE("a product with a pruned matrix, a pixelfly layer and its gradients") {
    const CommandFolder folder;
    run_saving(folder,
               config_of(R"("kernel": "spmm_tilewise", "m": 40, "k": 64, "n": 48, "method": "tew",
                       "granularity": 16, "overlay": 0.05, "dtype": "f16")"));
    CHECK(compare(matrix(folder, "C"), matrix(folder, "A"), matrix(folder, "W"), kHalf) == "equal");

    const std::string pixelfly = R"("kernel": "pixelfly", "m": 32, "k": 32, "n": 12, "block": 4,
                                 "rank": 8, "dtype": "f32", "pass": )";
    run_saving(folder, config_of(pixelfly + R"("forward")"));
    Matrix w = blocks(folder, "S", 32, 32);
    const Matrix u = matrix(folder, "U");
    const Matrix v = matrix(folder, "V");
    for (std::uint64_t i = 0; i < 32; ++i)
      for (std::uint64_t j = 0; j < 32; ++j)
        for (std::uint64_t q = 0; q < 8; ++q) w.at(i, j) += u.at(i, q) * v.at(j, q);
    CHECK(compare(matrix(folder, "Y"), w, matrix(folder, "X"), 2e-5) == "equal");
    run_saving(folder, config_of(pixelfly + R"("grad_input")"));
    CHECK(compare(matrix(folder, "dX"), transposed(w), matrix(folder, "dY"), 2e-5) == "equal");

    run_saving(folder, config_of(pixelfly + R"("grad_weights")"));
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
      run_saving(folder, config_of(pixelfly + R"("forward")"));
      const Matrix u = matrix(folder, "U");
      const Matrix v = matrix(folder, "V");
      Matrix w = blocks(folder, "S", 32, 32);
      for (double& each : w.values) each *= gamma;
      for (std::uint64_t i = 0; i < 32; ++i)
        for (std::uint64_t j = 0; j < 32; ++j)
          for (std::uint64_t q = 0; q < 8; ++q) w.at(i, j) += (1 - gamma) * u.at(i, q) * v.at(j, q);
      CHECK(compare(matrix(folder, "Y"), w, matrix(folder, "X"), 2e-5) == "equal");
      run_saving(folder, config_of(pixelfly + R"("grad_input")"));
      CHECK(compare(matrix(folder, "dX"), transposed(w), matrix(folder, "dY"), 2e-5) == "equal");
      run_saving(folder, config_of(pixelfly + R"("grad_weights")"));
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

  TEST_CASE("a pixelfly network's loss follows from its weights, mask and gamma") {
    const CommandFolder folder;
    constexpr std::uint64_t kInputs = 12, kPadded = 16, kOutputs = 4, kBlock = 4, kRank = 3;
    run_saving(folder, config_of(R"("kernel": "mlp", "layers": [{"kind": "pixelfly", "outputs": 4,
      "block": 4, "rank": 3, "butterfly_size": 16, "activation": "none", "gamma": 0.3,
      "learn_gamma": true}],
      "batch": 10, "steps": 1, "train": false, "data": {"width": 4, "height": 3, "classes": 4,
      "samples": 10, "test_samples": 0})"));
    const double gamma = test::saved(folder, "weights_0_gamma").values.at(0);
    CHECK(gamma == doctest::Approx(0.3));
    const std::vector<double> weights = test::saved(folder, "weights_0").values;
    const std::vector<double> indices = test::saved(folder, "mask_0.indices").values;
    const std::vector<double> begins = test::saved(folder, "mask_0.indptr").values;
    Matrix w{kOutputs, kInputs, std::vector<double>(kOutputs * kInputs)};
    std::vector<double> bias(kOutputs);
    for (std::uint64_t row = 0; row * kBlock < kOutputs; ++row)
      for (auto e = static_cast<std::uint64_t>(begins[row]);
           e < static_cast<std::uint64_t>(begins[row + 1]); ++e)
        for (std::uint64_t n = 0; n < kBlock * kBlock; ++n) {
          const std::uint64_t i = row * kBlock + n / kBlock;
          const std::uint64_t j = static_cast<std::uint64_t>(indices[e]) * kBlock + n % kBlock;
          const double value = weights[e * kBlock * kBlock + n];
          if (j < kInputs) w.at(i, j) += gamma * value;
          if (j == kPadded) bias[i] = value;
        }
    const std::uint64_t u = indices.size() * kBlock * kBlock;
    const std::uint64_t v = u + kOutputs * kRank;
    REQUIRE(weights.size() == v + kInputs * kRank);
    for (std::uint64_t i = 0; i < kOutputs; ++i)
      for (std::uint64_t j = 0; j < kInputs; ++j)
        for (std::uint64_t q = 0; q < kRank; ++q)
          w.at(i, j) += (1 - gamma) * weights[u + i * kRank + q] * weights[v + j * kRank + q];
    const Matrix images = matrix(folder, "images");
    const std::vector<double> labels = test::saved(folder, "labels").values;
    double loss = 0;
    for (std::uint64_t sample = 0; sample < 10; ++sample) {
      std::vector<double> out = bias;
      double all = 0;
      for (std::uint64_t i = 0; i < kOutputs; ++i) {
        for (std::uint64_t j = 0; j < kInputs; ++j) out[i] += w.at(i, j) * images.at(sample, j);
        all += std::exp(out[i]);
      }
      loss -= out.at(static_cast<std::size_t>(labels.at(sample))) - std::log(all);
    }
    CHECK(test::saved(folder, "loss").values.at(0) == doctest::Approx(loss / 10).epsilon(1e-5));
  }

  TEST_CASE("butterfly factors, real and complex, and the gradient of X") {
    const CommandFolder folder;
    constexpr std::uint64_t kFeatures = 16, kColumns = 6;
    using Complex = std::complex<double>;
    for (const std::string layout : {"planned", "blocked"})
      for (const bool is_complex : {false, true}) {
        run_saving(folder, config_of(fmt::format(R"("kernel": "butterfly", "features": {}, "n": {},
                                       "dtype": "{}", "layout": "{}")",
                                                 kFeatures, kColumns,
                                                 is_complex ? "complex_f32" : "f32", layout)));
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
      run_saving(folder, config_of(fmt::format(R"("kernel": "butterfly", "features": 16, "n": 3,
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

  TEST_CASE("a Fourier transform's X is that of x, in one dimension and two") {
    const CommandFolder folder;
    for (const std::string sizes : {R"("points": 64)", R"("points": 16, "rows": 8)"})
      for (const std::string layout : {"blocked", "natural"}) {
        run_saving(folder,
                   config_of(fmt::format(R"("kernel": "fft", {}, "layout": "{}")", sizes, layout)));
        const data::NumpyArray x = test::saved(folder, "x");
        const data::NumpyArray found = test::saved(folder, "X");
        CHECK(x.dtype == "<c8");
        const std::uint64_t rows = x.shape.at(0), points = x.shape.at(1);
        double worst = 0;
        for (std::uint64_t k = 0; k < rows * points; ++k) {
          std::complex<double> sum;
          for (std::uint64_t i = 0; i < rows * points; ++i) {
            const std::uint64_t down = (k / points) * (i / points);
            const std::uint64_t across = (k % points) * (i % points);
            const double turns = static_cast<double>(down) / static_cast<double>(rows) +
                                 static_cast<double>(across) / static_cast<double>(points);
            sum += std::complex(x.values[2 * i], x.values[2 * i + 1]) *
                   std::polar(1.0, -2 * std::numbers::pi * turns);
          }
          worst = std::max(
              worst, std::abs(sum - std::complex(found.values[2 * k], found.values[2 * k + 1])));
        }
        CHECK(worst < 1e-4);
      }
  }

  TEST_CASE("each array of a batch has a Fourier transform of its own") {
    const CommandFolder folder;
    for (const std::string layout : {"blocked", "natural"}) {
      run_saving(folder,
                 config_of(fmt::format(
                     R"("kernel": "fft", "points": 16, "batch": 10, "layout": "{}")", layout)));
      const std::vector<double> x = test::saved(folder, "x").values;
      const data::NumpyArray found = test::saved(folder, "X");
      CHECK(found.shape == std::vector<std::uint64_t>{10, 16, 2});
      double worst = 0;
      for (std::size_t row = 0; row < 160; row += 16)
        for (std::size_t k = 0; k < 16; ++k) {
          std::complex<double> sum;
          for (std::size_t i = 0; i < 16; ++i)
            sum += std::complex(x[2 * (row + i)], x[2 * (row + i) + 1]) *
                   std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i * k) / 16);
          worst = std::max(worst, std::abs(sum - std::complex(found.values[2 * (row + k)],
                                                              found.values[2 * (row + k) + 1])));
        }
      CHECK(worst < 1e-5);
    }
  }

  TEST_CASE("a network's loss follows from images, labels and weights as its README orders them") {
    const CommandFolder folder;
    constexpr std::uint64_t kInputs = 12, kClasses = 8, kRank = 2;
    using Row = std::vector<double>;
    const auto weights = [&](const char* name) { return test::saved(folder, name).values; };
    const auto times = [](const Row& x, const Row& w, std::uint64_t outputs) {
      Row y(outputs);  // w by rows; one more than x has: b
      for (std::uint64_t i = 0; i < w.size(); ++i)
        y[i % outputs] += w[i] * (i / outputs < x.size() ? x[i / outputs] : 1.0);
      return y;
    };
    const auto butterfly = [&](const Row& given, bool rotates) {
      const Row w = weights("weights_0");
      Row x = given;
      x.resize(16);
      for (std::uint64_t l = 0; l < 4; ++l)
        for (std::uint64_t p = 0; p < 8; ++p) {
          const std::uint64_t f = (p >> l << (l + 1)) + p % (1U << l);
          const std::uint64_t g = f + (1U << l);
          const std::uint64_t at = l * 8 + p;
          Row t = rotates ? Row{std::cos(w[at]), -std::sin(w[at]), std::sin(w[at]), std::cos(w[at])}
                          : Row{w[4 * at], w[4 * at + 1], w[4 * at + 2], w[4 * at + 3]};
          t = {t[0] * x[f] + t[1] * x[g], t[2] * x[f] + t[3] * x[g]};
          x[f] = t[0];
          x[g] = t[1];
        }
      x.resize(kClasses);
      const Row bias = weights("weights_0_bias");
      for (std::uint64_t c = 0; c < kClasses; ++c) x[c] += bias[c];
      return x;
    };
    const auto pixelfly = [&](const Row& x) {
      const Row w = weights("weights_0");  // two rows of four blocks of 4, the last one for b
      Row y(kClasses);
      for (std::uint64_t i = 0; i < 128; ++i) {
        const std::uint64_t column = i / 16 % 4 * 4 + i % 4;
        y[i / 64 * 4 + i / 4 % 4] += w[i] * (column < kInputs    ? x[column]
                                             : column == kInputs ? 1.0
                                                                 : 0.0);
      }
      for (std::uint64_t q = 0; q < kRank; ++q) {
        double low = 0;
        for (std::uint64_t j = 0; j < kInputs; ++j)
          low += w[128 + (kClasses + j) * kRank + q] * x[j];
        for (std::uint64_t i = 0; i < kClasses; ++i) y[i] += w[128 + i * kRank + q] * low;
      }
      return y;
    };
    using Layer = std::pair<const char*, std::function<Row(const Row&)>>;
    const std::vector<Layer> layers{
        {R"("kind": "dense")", [&](auto& x) { return times(x, weights("weights_0"), kClasses); }},
        {R"("kind": "low_rank", "rank": 2)",
         [&](auto& x) {
           return times(times(x, weights("weights_0"), kRank), weights("weights_1"), kClasses);
         }},
        {R"("kind": "butterfly")", [&](auto& x) { return butterfly(x, false); }},
        {R"("kind": "butterfly", "parameters": "rotation")",
         [&](auto& x) { return butterfly(x, true); }},
        {R"("kind": "pixelfly", "rank": 2, "block": 4)", pixelfly}};
    for (const Layer& layer : layers) {
      CAPTURE(layer.first);
      run_saving(folder,
                 config_of(fmt::format(
                     R"("kernel": "mlp", "layers": [{{{}, "outputs": 8, "activation": "none"}}],
      "batch": 10, "steps": 2, "train": false, "data": {{"width": 4, "height": 3, "classes": 8,
      "samples": 20, "test_samples": 10}})",
                     layer.first)));
      const Matrix images = matrix(folder, "images");
      const Row labels = weights("labels");
      const Row loss = weights("loss");
      REQUIRE(images.rows == 30);
      REQUIRE(loss.size() == 2);
      for (std::uint64_t step = 0; step < 2; ++step) {
        double sum = 0;
        for (std::uint64_t sample = 10 * step; sample < 10 * (step + 1); ++sample) {
          Row x;
          for (std::uint64_t i = 0; i < kInputs; ++i) x.push_back(images.at(sample, i));
          const Row out = layer.second(x);
          double all = 0;
          for (const double each : out) all += std::exp(each);
          sum -= out.at(static_cast<std::size_t>(labels.at(sample))) - std::log(all);
        }
        CHECK(loss[step] == doctest::Approx(sum / 10).epsilon(1e-5));
      }
    }
  }

  TEST_CASE("STREAM's a is b + 1.5 c, and a matrix unit's Y is Y0 + X W, tile by tile") {
    const CommandFolder folder;
    run_saving(folder,
               config_of(R"("kernel": "stream", "elements_per_worker": 20, "dtype": "f32")", 2));
    const std::vector<double> a = test::saved(folder, "a").values;
    const std::vector<double> b = test::saved(folder, "b").values;
    const std::vector<double> c = test::saved(folder, "c").values;
    REQUIRE(a.size() == 2 * 6 * 20);
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == b[i] + 1.5 * c[i]);

    run_saving(folder, config_of(R"("kernel": "matrix_unit", "n": 6, "dtype": "f16_f32")", 2));
    const auto tile = [&](const std::string& name, std::uint64_t t) {
      const data::NumpyArray all = test::saved(folder, name);
      const std::uint64_t size = all.shape[1] * all.shape[2];
      const auto first = all.values.begin() + static_cast<std::ptrdiff_t>(t * size);
      return Matrix{all.shape[1], all.shape[2],
                    std::vector<double>(first, first + static_cast<std::ptrdiff_t>(size))};
    };
    for (std::uint64_t t = 0; t < 2; ++t) {
      const Matrix before = tile("Y0", t);
      CHECK(compare(tile("Y", t), tile("X", t), tile("W", t), kSingle, &before) == "equal");
    }
  }

  TEST_CASE("a spiking network's weights and streams give the same run when they are read back") {
    const CommandFolder folder;
    const std::string network = R"("kernel": "snn", "layers": [6, 3], "time_steps": 4, "batch": 2,
      "train": false, "weight_scale": 30,
      "data": {"kind": "custom", "inputs": 5, "classes": 3, "samples": 2, "rate": 0.4})";
    run_saving(folder, config_of(network, 16));
    const auto results = [&] { return folder.json("result/report.json").at("results"); };
    const auto first = results();
    CHECK(first.at("layers").at(0).at("spikes_a_step") > 0);
    const data::NumpyArray raster = test::saved(folder, "raster");
    CHECK(raster.dtype == "|i1");
    CHECK(raster.shape == std::vector<std::uint64_t>{2, 4, 5});
    // A tile's list of a step has the raster's spikes.
    const data::NumpyArray lists = test::saved(folder, "spikes_0");
    CHECK(lists.shape.at(0) == 2);
    CHECK(lists.shape.at(1) == 5);
    std::filesystem::rename(folder.path() / "result/tensors", folder.path() / "given");
    run_saving(folder, config_of(network, 16),
               "--set workload.weight_scale=null --set workload.weights=given --set "
               "workload.data.raster=given/raster.npy --set workload.data.labels=given/labels.npy "
               "--set workload.data.rate=null");
    CHECK(results() == first);
  }

  TEST_CASE("saved inputs that are read back give the same result, in the same time") {
    const CommandFolder folder;
    const auto report = [&] {
      const auto all = folder.json("result/report.json");
      return std::pair(all.at("time"), all.at("traffic"));
    };
    const auto twice = [&](const std::string& workload, const std::string& result,
                           const std::string& keys) {
      run_saving(folder, config_of(workload));
      const auto first = report();
      const std::string found = folder.read("result/tensors/" + result + ".npy");
      std::filesystem::remove_all(folder.path() / "given");
      std::filesystem::rename(folder.path() / "result/tensors", folder.path() / "given");
      run_saving(folder, config_of(workload), keys);
      CHECK(report() == first);
      CHECK(folder.read("result/tensors/" + result + ".npy") == found);
    };
    twice(kGemmKeys, "C", "--set workload.a=given/A.npy --set workload.b=given/B.npy");
    for (const std::string more : {"", R"(, "batch": 6)", R"(, "rows": 4, "batch": 2)"})
      twice(R"("kernel": "fft", "points": 64)" + more, "X", "--set workload.x=given/x.npy");
    for (const std::string more : {R"("dtype": "complex_f32")", R"("dtype": "f16", "block": 4)"})
      twice(R"("kernel": "butterfly", "features": 16, "n": 6, )" + more, "Y",
            "--set workload.x=given/X.npy --set workload.twiddles=given/twiddles.npy");
    for (const std::string type : {"f16", "f32", "complex_f32"})
      twice(
          R"("kernel": "butterfly", "features": 16, "n": 6, "parameters": "rotation", "dtype": ")" +
              type + "\"",
          "Y", "--set workload.x=given/X.npy --set workload.twiddles=given/twiddles.npy");
    twice(R"("kernel": "spmm_tilewise", "m": 40, "k": 64, "n": 48, "granularity": 16)", "C",
          "--set workload.a=given/A.npy --set workload.matrix=given/W.npy");
    const std::string sparse = R"("m": 36, "k": 28, "n": 10, "block": 4, "density": 0.3)";
    for (const std::string type : {"f16", "f32"}) {
      const std::string keys = fmt::format(R"({}, "dtype": "{}")", sparse, type);
      twice(R"("kernel": "spmm_static", )" + keys, "Y", "--set workload.x=given/X.npy");
      twice(R"("kernel": "spmm_dynamic", )" + keys, "Y", "--set workload.x=given/X.npy");
      twice(R"("kernel": "spmm_dynamic", "pass": "grad_input", )" + keys, "Xg",
            "--set workload.x=given/Yg.npy");
      twice(R"("kernel": "spmm_dynamic", "pass": "grad_values", )" + keys, "Wg.data",
            "--set workload.x=given/X.npy --set workload.gradient=given/Yg.npy");
    }
    const std::string pixelfly =
        R"("kernel": "pixelfly", "m": 32, "k": 48, "n": 12, "block": 4, "rank": 8, "pass": )";
    const std::string factors = "--set workload.u=given/U.npy --set workload.v=given/V.npy ";
    twice(pixelfly + R"("forward")", "Y", factors + "--set workload.x=given/X.npy");
    twice(pixelfly + R"("grad_input")", "dX", factors + "--set workload.x=given/dY.npy");
    twice(pixelfly + R"("grad_weights")", "dV",
          factors + "--set workload.x=given/X.npy --set workload.gradient=given/dY.npy");
  }

  TEST_CASE("given values that the type does not have are rounded, and counted in the report") {
    const CommandFolder folder;
    const auto counts = [&](const std::string& workload, const std::string& set) {
      const Answer answer = folder.call("run a.json --out result " + set);
      CAPTURE(workload);
      CAPTURE(answer.err);
      CHECK(answer.code == 0);
      const auto facts = folder.json("result/report.json").at("workload");
      CHECK((answer.out.find("rounded {") != std::string::npos) == facts.contains("rounded"));
      return facts.value("rounded", test::Json::object());
    };
    const std::vector<std::tuple<std::string, std::string, std::string>> products{
        {R"("kernel": "gemm", "m": 16, "k": 16, "n": 16)", "A", "a"},
        {R"("kernel": "gemm", "m": 16, "k": 16, "n": 16)", "B", "b"},
        {R"("kernel": "spmm_tilewise", "m": 16, "k": 16, "n": 16, "granularity": 4)", "A", "a"},
        {R"("kernel": "spmm_tilewise", "m": 16, "k": 16, "n": 16, "granularity": 4)", "A",
         "matrix"},
        {R"("kernel": "spmm_static", "m": 16, "k": 16, "n": 16, "block": 4, "density": 0.5)", "X",
         "x"},
        {R"("kernel": "spmm_dynamic", "m": 16, "k": 16, "n": 16, "block": 4, "density": 0.5)", "X",
         "x"},
        {R"("kernel": "spmm_static", "m": 16, "k": 16, "n": 16, "block": 4)", "X", "matrix"},
        {R"("kernel": "pixelfly", "m": 16, "k": 16, "n": 16, "block": 4, "rank": 16)", "X", "x"},
        {R"("kernel": "pixelfly", "m": 16, "k": 16, "n": 16, "block": 4, "rank": 16)", "X", "u"},
        {R"("kernel": "butterfly", "features": 16, "n": 16)", "X", "x"}};
    for (const auto& [workload, tensor, key] : products) {
      run_saving(folder, config_of(workload + R"(, "dtype": "f32")"));
      std::filesystem::remove_all(folder.path() / "given");
      std::filesystem::rename(folder.path() / "result/tensors", folder.path() / "given");
      const std::string set = fmt::format("--set workload.{}=given/{}.npy", key, tensor);
      CHECK(counts(workload, set).empty());
      const auto rounded = counts(workload, set + " --set workload.dtype=f16");
      CHECK(rounded.size() == 1);
      CHECK(rounded.at(key) > 200);  // of 256
      CHECK(rounded.at(key) <= 256);
    }
  }

  TEST_CASE("one, two and three threads save the same bytes") {
    const CommandFolder folder;
    for (const std::string& workload :
         {kGemmKeys, std::string(R"("kernel": "spmm_static", "m": 36, "k": 28, "n": 10, "block": 4,
                             "density": 0.3, "dtype": "f16")")}) {
      const auto all = [&](int threads) {
        run_saving(folder, config_of(workload), fmt::format("--threads {}", threads));
        std::string bytes;
        for (const auto& entry :
             std::filesystem::directory_iterator(folder.path() / "result/tensors"))
          bytes += entry.path().filename().string();
        CHECK(bytes.find(".npy") != std::string::npos);
        return folder.read(workload == kGemmKeys ? "result/tensors/C.npy"
                                                 : "result/tensors/Y.npy") +
               folder.read(workload == kGemmKeys ? "result/tensors/B.npy"
                                                 : "result/tensors/W.data.npy");
      };
      const std::string one = all(1);
      CHECK(all(2) == one);
      CHECK(all(3) == one);
    }
  }

  TEST_CASE("--save writes single files beside the results, and says so; check lists the names") {
    const CommandFolder folder;
    folder.write("a.json",
                 R"({"machine": {"extends": "bow", "tiles": 8}, "workload": {)" + kGemmKeys + "}}");
    const Answer answer =
        folder.call("run a.json --out result --save C=c.npy --save A=a.npy --save C=again.npy");
    CAPTURE(answer.err);
    REQUIRE(answer.code == 0);
    CHECK(answer.out.find("  tensor    C [40, 20] f16, c.npy\n") != std::string::npos);
    CHECK(folder.read("c.npy") == folder.read("again.npy"));
    CHECK_FALSE(folder.has("result/tensors"));
    CHECK(data::read_numpy(folder.path() / "a.npy").shape == std::vector<std::uint64_t>{40, 48});
    const std::string listed = folder.call("check a.json").out;
    CHECK(listed.find("  tensors   C  [40, 20] f16 result\n") != std::string::npos);
    CHECK(listed.find("            A  [40, 48] f16 input\n") != std::string::npos);
  }

  TEST_CASE("tensors that another run left in the folder of the results go") {
    const CommandFolder folder;
    run_saving(folder, config_of(kGemmKeys));
    CHECK(folder.has("result/tensors/A.npy"));
    run_saving(folder, config_of(kGemmKeys), "--set report.tensors=C");
    CHECK(folder.has("result/tensors/C.npy"));
    CHECK_FALSE(folder.has("result/tensors/A.npy"));
    run_saving(folder, config_of(kGemmKeys), "--set report.tensors=null");
    CHECK_FALSE(folder.has("result/tensors"));
  }

  TEST_CASE("names that no tensor has and files that cannot be written end before the run") {
    const CommandFolder folder;
    folder.write("a.json",
                 R"({"machine": {"extends": "bow", "tiles": 8}, "workload": {)" + kGemmKeys + "}}");
    std::filesystem::create_directory(folder.path() / "b.npy");
    const auto refused = [&](const std::string& more, const std::vector<std::string>& message) {
      check_refused(folder, "run a.json --out result " + more, message);
    };
    refused("--save D=d.npy", {"--save D=d.npy: found no tensor \"D\", allowed C, A, B"});
    refused("--save C=c.npy --save c=d.npy", {"--save c=d.npy: found no tensor \"c\""});
    refused("--save C", {"--save C: allowed NAME=FILE.npy"});
    refused("--save =c.npy", {"--save =c.npy: allowed NAME=FILE.npy"});
    refused("--save C=c.csv", {"--save C=c.csv: allowed NAME=FILE.npy"});
    refused("--save C=nowhere/c.npy", {"--save C=nowhere/c.npy: ", "nowhere"});
    refused("--save C=b.npy", {"--save C=b.npy: b.npy is a folder, allowed a file"});
    refused("--save C=c.npy --save A=./c.npy", {"--save A=./c.npy: ./c.npy is named twice"});
    refused("--set report.tensors=A,D",
            {"report.tensors: found no tensor \"D\", allowed all or C, A, B"});
    check_refused(folder, "check a.json --set report.tensors=D", {"report.tensors: found no"});
    check_refused(folder, "sweep a.json machine.tiles=2,4 --set report.tensors=C --out s",
                  {"report.tensors: found \"C\", allowed \"\": tessera run alone writes tensors"});
    check_refused(folder, "sweep a.json machine.tiles=2,4 --save C=c.npy --out s", {"--save"});
  }

  TEST_CASE("the nearest name is suggested") {
    const CommandFolder folder;
    folder.write("a.json", config_of(R"("kernel": "fft", "points": 64)"));
    folder.write("b.json", config_of(R"("kernel": "mlp", "layers": [{"outputs": 4}], "batch": 10,
      "steps": 1, "data": {"width": 4, "height": 3, "classes": 4, "samples": 20})"));
    check_refused(folder, "run b.json --out result --save weight_0=w.npy",
                  {"did you mean weights_0?", "images, labels, loss, right"});
  }
}
