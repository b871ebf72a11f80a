#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/training/learning.h"
#include "sim/data/element.h"
#include "tests/kernels/lone_codelet.h"

using namespace tessera;
using tessera::test::LoneCodelet;
using training::Learning;

/// Adam on a tile is torch.optim.Adam: m_hat / (sqrt(v_hat) + epsilon).
namespace {

constexpr std::uint32_t kCount = 64;  // parameters
constexpr std::uint32_t kSteps = 7;
constexpr double kLossScale = 65536;
// Powers of beta2 are rounded to f32 each step: 1 - beta2^t is off by up to 2^-25 / (1 - beta2) of
// itself, its root by half of that; the other roundings are some of 2^-24.
constexpr double kTolerance = 0x1p-25 / 0.001;

/// torch.optim.Adam in double, as its documentation has it.
class Torch {
 public:
  explicit Torch(const Learning& learning) : of_(learning) {}

  /// What a step adds to parameter `i`.
  double change(std::uint32_t i, double gradient, std::uint32_t step) {
    m_[i] = of_.beta1 * m_[i] + (1 - of_.beta1) * gradient;
    v_[i] = of_.beta2 * v_[i] + (1 - of_.beta2) * gradient * gradient;
    const double m_hat = m_[i] / (1 - std::pow(of_.beta1, step));
    const double v_hat = v_[i] / (1 - std::pow(of_.beta2, step));
    return -of_.rate * m_hat / (std::sqrt(v_hat) + of_.epsilon);
  }

 private:
  Learning of_;
  std::array<double, kCount> m_{}, v_{};
};

/// An f16 number from 2^-15 to 2, of either sign.
double gradient_of(std::uint32_t i, std::uint32_t step) {
  const double size = std::ldexp(1 + i % 5 / 8.0, -static_cast<int>((i + 3 * step) % 16));
  return (i + step) % 3 == 0 ? -size : size;
}

constexpr std::uint32_t at(std::uint32_t buffer) { return test::LoneCodelet::kData * (2 + buffer); }
/// Buffers of a stretch, and the call's arguments.
struct Of {
  enum : std::uint32_t { kWeights, kGradient, kFirst, kSecond, kMasters, kRate, kScale, kCall };
};

program::Place place(std::uint32_t buffer) { return {program::BufferId{buffer}}; }

void put(test::LoneCodelet& codelet, const std::vector<program::Argument>& arguments) {
  for (std::uint32_t i = 0; i < arguments.size(); ++i) {
    const auto* const where = std::get_if<program::Place>(&arguments[i]);
    codelet.put(at(Of::kCall) + 4 * i, where != nullptr
                                           ? at(static_cast<std::uint32_t>(where->buffer))
                                           : std::get<std::uint32_t>(arguments[i]));
  }
}

/// An update, and what it is given: of scaled gradients masters apart.
struct Codelet {
  std::string name;
  program::Type gradients;
  bool scaled;
};

/// Steps of a tile's own code from zero; the worst difference from Torch, of what has been changed.
double worst_difference(const Codelet& codelet, const Learning& learning) {
  using Rate = std::array<std::byte, training::kRateBytes>;
  Rate rate;
  training::first_rate(learning)(rate);
  test::LoneCodelet schedule("training", training::schedule_codelet(learning));
  put(schedule, training::schedule_arguments(learning, place(Of::kRate)));
  test::LoneCodelet update("training", codelet.name);
  const training::Stretch stretch{program::BufferId{Of::kWeights},
                                  program::BufferId{codelet.scaled ? Of::kMasters : Of::kWeights},
                                  program::BufferId{Of::kGradient}, program::BufferId{Of::kFirst},
                                  program::BufferId{Of::kSecond}};
  std::optional<program::BufferId> scale;
  if (codelet.scaled) {
    scale = program::BufferId{Of::kScale};
    for (const std::uint32_t i : {0U, 1U})
      update.put(at(Of::kScale) + 4 * i, static_cast<float>(kLossScale));
    update.put(at(Of::kScale) + 12, static_cast<float>(1 / kLossScale));
  }
  std::vector<program::Argument> arguments =
      training::update_arguments(learning, stretch, place(Of::kRate), scale);
  arguments.insert(arguments.end(), {0U, kCount / (codelet.scaled ? 4 : 2)});
  put(update, arguments);
  Torch torch(learning);
  std::array<double, kCount> expected{}, changed{};
  double worst = 0;
  const std::uint32_t bytes = data::element_bytes(codelet.gradients);
  for (std::uint32_t step = 1; step <= kSteps; ++step) {
    schedule.put(at(Of::kRate), rate);
    schedule.slots(at(Of::kCall));
    rate = schedule.get<Rate>(at(Of::kRate));
    update.put(at(Of::kRate), rate);
    for (std::uint32_t i = 0; i < kCount; ++i) {
      const double gradient = gradient_of(i, step);
      std::array<std::byte, 4> stored{};
      data::store_element(codelet.gradients, stored, 0, gradient);
      for (std::uint32_t b = 0; b < bytes; ++b)
        update.put(at(Of::kGradient) + bytes * i + b, stored[b]);
      const double change =
          torch.change(i, codelet.scaled ? gradient / kLossScale : gradient, step);
      expected[i] += change;
      changed[i] += std::abs(change);
    }
    update.slots(at(Of::kCall));
    for (std::uint32_t i = 0; i < kCount; ++i) {
      const std::uint32_t number = at(codelet.scaled ? Of::kMasters : Of::kWeights) + 4 * i;
      const auto found = static_cast<double>(update.get<float>(number));
      worst = std::max(worst, std::abs(found - expected[i]) / changed[i]);
    }
  }
  return worst;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("Adam's epsilon is added to the corrected root, whatever it is, in every type") {
    using enum program::Type;
    const std::vector<Codelet> codelets{{"training_adam", f32, false},
                                        {"training_adam_f16_f16", f16, true},
                                        {"training_adam_f16_f32", f32, true},
                                        {"training_adam_f32_f32", f32, true}};
    for (const Codelet& codelet : codelets)
      for (const double epsilon : {1e-8, 1e-4, 1e-2, 1.0}) {
        Learning learning{.optimiser = training::Optimiser::adam, .rate = 1, .epsilon = epsilon};
        CAPTURE(codelet.name);
        CAPTURE(epsilon);
        CHECK(worst_difference(codelet, learning) <= kTolerance);
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
