#include <algorithm>
#include <array>
#include <cmath>

#include <doctest/doctest.h>

#include "kernels/training/learning.h"
#include "tests/kernels/lone_codelet.h"

using namespace tessera;
using tessera::test::LoneCodelet;
using training::Learning;

namespace {

/// torch.optim.Adam in double by its documentation; change() is a step's update of a parameter.
class Torch {
 public:
  explicit Torch(const Learning& learning) : of_(learning) {}

  double change(double gradient) {
    ++step_;
    m_ = of_.beta1 * m_ + (1 - of_.beta1) * gradient;
    v_ = of_.beta2 * v_ + (1 - of_.beta2) * gradient * gradient;
    const double m_hat = m_ / (1 - std::pow(of_.beta1, step_));
    const double v_hat = v_ / (1 - std::pow(of_.beta2, step_));
    return -of_.rate * m_hat / (std::sqrt(v_hat) + of_.epsilon);
  }

 private:
  Learning of_;
  double m_ = 0, v_ = 0;
  int step_ = 0;
};

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("Adam, which machines follow to the bit, adds epsilon to the corrected root") {
    // Powers of beta2 are rounded to f32 in each step: the relative error of 1 - beta2^t is up to
    // 2^-25 / (1 - beta2), that of its root half as much; the other roundings add a few 2^-24.
    constexpr double kTolerance = 0x1p-25 / 0.001;
    for (const double epsilon : {1e-8, 1e-4, 1e-2, 1.0})
      for (int parameter = 0; parameter < 64; ++parameter) {
        CAPTURE(epsilon);
        CAPTURE(parameter);
        const Learning learning{
            .optimiser = training::Optimiser::adam, .rate = 1, .epsilon = epsilon};
        training::PlainLearning plain(learning);
        Torch torch(learning);
        float first = 0, second = 0, weight = 0;
        double expected = 0, changed = 0;
        for (int step = 1; step <= 7; ++step) {
          const double size = std::ldexp(1 + parameter % 5 / 8.0, -((parameter + 3 * step) % 16));
          const double gradient = (parameter + step) % 3 == 0 ? -size : size;
          plain.next();
          plain.follow(static_cast<float>(gradient), first, second, weight);
          const double change = torch.change(gradient);
          expected += change;
          changed += std::abs(change);
          CHECK(std::abs(double{weight} - expected) <= kTolerance * changed);
        }
      }
  }

  TEST_CASE("cosines and sines of angles are within two roundings of f32, all around") {
    constexpr std::uint32_t kAngles = 0x2000, kTurns = 0x4000, kCount = 1000;
    constexpr double kTolerance = 0x1p-23;
    LoneCodelet codelet("training", "training_rotations");
    const auto angle = [](std::uint32_t i) { return (static_cast<float>(i) - 500) * 0.0131F; };
    for (std::uint32_t i = 0; i < kCount; ++i) codelet.put(kAngles + 4 * i, angle(i));
    codelet.put(LoneCodelet::kData, kAngles);
    codelet.put(LoneCodelet::kData + 4, kTurns);
    codelet.put(LoneCodelet::kData + 8, kCount);
    codelet.slots(LoneCodelet::kData);
    double worst = 0;
    for (std::uint32_t i = 0; i < kCount; ++i) {
      const auto exact = static_cast<double>(angle(i));
      const auto found = [&](std::uint32_t number) {
        return static_cast<double>(codelet.get<float>(kTurns + 8 * i + 4 * number));
      };
      worst = std::max(
          {worst, std::abs(found(0) - std::cos(exact)), std::abs(found(1) - std::sin(exact))});
    }
    CHECK(worst <= kTolerance);
  }
}
