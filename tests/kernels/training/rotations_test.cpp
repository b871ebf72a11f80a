#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "tests/kernels/lone_codelet.h"

using tessera::test::LoneCodelet;

TEST_SUITE("unit") {
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
