#include <bit>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/saved.h"

using namespace tessera;
using test::check_refused;
using test::CommandFolder;
using test::matrix;
using test::run_saving;
using test::tensors_config;

/// Saved inputs and results are those of the computation, whatever their layout on the machine.
TEST_SUITE("cli") {
  TEST_CASE("a network's loss follows from images, labels and weights as its README orders them") {
    const CommandFolder folder;
    constexpr std::uint64_t kInputs = 12, kClasses = 8, kRank = 2;
    using Row = std::vector<double>;
    const auto weights = [&](const char* name) { return test::saved(folder, name).values; };
    const auto times = [](const Row& x, const Row& w, std::uint64_t outputs) {
      Row y(outputs);  // w by rows; if w has one row more than x, that row is b
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
    // gamma S + (1 - gamma) U V^T, or S + U V^T; column `ones` of S is b.
    const auto pixelfly = [&](const Row& x, std::uint64_t ones, bool weighed) {
      const Row w = weights("weights_0"), columns = weights("mask_0.indices");
      const Row begins = weights("mask_0.indptr");
      const double gamma = weighed ? weights("weights_0_gamma").at(0) : 1;
      CHECK(gamma == doctest::Approx(weighed ? 0.3 : 1));
      const std::uint64_t u = columns.size() * 16, v = u + kClasses * kRank;  // blocks of 4
      REQUIRE(w.size() == v + kInputs * kRank);
      Row y(kClasses);
      for (std::uint64_t row = 0; row < kClasses / 4; ++row)
        for (auto i = static_cast<std::uint64_t>(16 * begins[row]);
             i < static_cast<std::uint64_t>(16 * begins[row + 1]); ++i) {
          const auto column = static_cast<std::uint64_t>(columns[i / 16]) * 4 + i % 4;
          y[row * 4 + i / 4 % 4] += w[i] * (column < kInputs ? gamma * x[column]
                                            : column == ones ? 1.0
                                                             : 0.0);
        }
      for (std::uint64_t q = 0; q < kRank; ++q) {
        double low = 0;
        for (std::uint64_t j = 0; j < kInputs; ++j) low += w[v + j * kRank + q] * x[j];
        for (std::uint64_t i = 0; i < kClasses; ++i)
          y[i] += (weighed ? 1 - gamma : 1) * w[u + i * kRank + q] * low;
      }
      return y;
    };
    constexpr std::uint64_t kPadded = 16;
    const auto with_bias = [&](const Row& x, const auto& element) {  // a dense W
      Row y = weights("weights_0_bias");
      for (std::uint64_t i = 0; i < kClasses; ++i)
        for (std::uint64_t j = 0; j < kInputs; ++j) y[i] += element(i, j) * x[j];
      return y;
    };
    const auto circulant = [&](const Row& x) {
      const Row c = weights("weights_0");
      REQUIRE(c.size() == kPadded);
      return with_bias(x, [&](auto i, auto j) { return c[(i + kPadded - j) % kPadded]; });
    };
    const auto fastfood = [&](const Row& x) {
      const Row w = weights("weights_0");
      const Row places = weights("permutation_0");
      REQUIRE(w.size() == 3 * kPadded);
      const auto h = [](std::uint64_t i, std::uint64_t j) {
        return std::popcount(i & j) % 2 == 0 ? 0.25 : -0.25;
      };
      return with_bias(x, [&](auto i, auto j) {
        double sum = 0;
        for (std::uint64_t k = 0; k < kPadded; ++k)
          sum += h(i, k) * w[kPadded + k] * h(static_cast<std::uint64_t>(places[k]), j);
        return w[2 * kPadded + i] * sum * w[j];
      });
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
        {R"("kind": "pixelfly", "rank": 2, "block": 4)",
         [&](auto& x) { return pixelfly(x, kInputs, false); }},
        {R"("kind": "pixelfly", "rank": 2, "block": 4, "butterfly_size": 16, "gamma": 0.3,
             "learn_gamma": true)",
         [&](auto& x) { return pixelfly(x, kPadded, true); }},
        {R"("kind": "circulant")", circulant},
        {R"("kind": "fastfood")", fastfood}};
    for (const Layer& layer : layers) {
      CAPTURE(layer.first);
      run_saving(folder,
                 tensors_config(fmt::format(
                     R"("kernel": "mlp", "layers": [{{{}, "outputs": 8, "activation": "none"}}],
      "batch": 10, "steps": 2, "train": false, "data": {{"width": 4, "height": 3, "classes": 8,
      "samples": 20, "test_samples": 10}})",
                     layer.first)));
      const test::Matrix images = matrix(folder, "images");
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

  TEST_CASE("the nearest name is suggested") {
    const CommandFolder folder{
        {"b.json", tensors_config(R"("kernel": "mlp", "layers": [{"outputs": 4}], "batch": 10,
      "steps": 1, "data": {"width": 4, "height": 3, "classes": 4, "samples": 20})")}};
    check_refused(folder, "run b.json --out result --save weight_0=w.npy",
                  {"did you mean weights_0?", "images, labels, loss, right"});
  }
}
