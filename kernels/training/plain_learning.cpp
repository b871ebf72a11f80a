#include <cmath>

#include "kernels/training/learning.h"

namespace tessera::training {

namespace {

/// The cosine of an angle as the tile code makes it: Cephes' polynomials beside quarter turns.
float cosine_of(float angle) {
  const float turns = angle * 0.63661977236758134F;
  const int quarter = static_cast<int>(turns < 0.0F ? turns - 0.5F : turns + 0.5F);
  const auto q = static_cast<float>(quarter);
  float x = std::fma(-q, 1.5707855224609375F, angle);
  x = std::fma(-q, 1.0804334124e-5F, x);
  const float y = x * x;
  float s = std::fma(-1.9515295891e-4F, y, 8.3321608736e-3F);
  s = std::fma(s, y, -1.6666654611e-1F);
  s = std::fma(s * y, x, x);
  float c = std::fma(2.443315711809948e-5F, y, -1.388731625493765e-3F);
  c = std::fma(c, y, 4.166664568298827e-2F);
  c = std::fma(c, y, -0.5F);
  c = std::fma(c, y, 1.0F);
  const float cosine = quarter % 2 != 0 ? s : c;
  return ((quarter + 1) & 2) != 0 ? -cosine : cosine;
}

}  // namespace

void PlainLearning::next() {
  if (learning_.schedule == Schedule::step && step_ > 0 && step_ % learning_.decay_every == 0)
    rate_ *= static_cast<float>(learning_.decay);
  const std::uint32_t before = step_++;
  first_ *= learning_.adam() ? static_cast<float>(learning_.beta1) : 0.0F;
  second_ *= static_cast<float>(learning_.keep_second());
  root_ = std::sqrt(1.0F - second_);
  size_ = rate_ * root_ / (1.0F - first_);
  if (step_ < learning_.warm_up)
    size_ *= static_cast<float>(step_) / static_cast<float>(learning_.warm_up);
  const auto wave = static_cast<float>(learning_.wave());
  if (wave == 0) return;
  const auto lowest = static_cast<float>(learning_.lowest);
  const float cosine = cosine_of(static_cast<float>(before) * wave);
  size_ *= std::fma((1.0F - lowest) * 0.5F, 1.0F + cosine, lowest);
}

void PlainLearning::follow(float gradient, float& first, float& second, float& weight) const {
  const auto keep_first = static_cast<float>(learning_.keep_first());
  if (!learning_.adam()) {
    first = std::fma(keep_first, first, gradient);
    weight = std::fma(-size_, first, weight);
    return;
  }
  const auto keep_second = static_cast<float>(learning_.keep_second());
  const float epsilon = static_cast<float>(learning_.epsilon) * root_;
  first = std::fma(keep_first, first, (1.0F - keep_first) * gradient);
  second = std::fma(keep_second, second, (1.0F - keep_second) * gradient * gradient);
  weight = std::fma(-size_, first / (std::sqrt(second) + epsilon), weight);
}

}  // namespace tessera::training
