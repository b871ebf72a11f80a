#include <cmath>
#include <numbers>

#include "kernels/snn/reference.h"

/// How weights follow their gradients, plainly: every rounding where the tile code of training has
/// it, so a product that is added to something is rounded once.
namespace tessera::snn {

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

/// Counts the step that begins. Returns its size, by which moments are multiplied.
float PlainNetwork::next_step() {
  const training::Learning& learning = setting_.learning;
  const bool adam = learning.optimiser == training::Optimiser::adam;
  const bool falls = learning.schedule == training::Schedule::step;
  if (falls && schedule_.step > 0 && schedule_.step % learning.decay_every == 0)
    schedule_.rate *= static_cast<float>(learning.decay);
  const std::uint32_t step = schedule_.step++;
  schedule_.first *= adam ? static_cast<float>(learning.beta1) : 0.0F;
  schedule_.second *= adam ? static_cast<float>(learning.beta2) : 0.0F;
  schedule_.root = std::sqrt(1.0F - schedule_.second);
  float size = schedule_.rate * schedule_.root / (1.0F - schedule_.first);
  if (schedule_.step < learning.warm_up)
    size *= static_cast<float>(schedule_.step) / static_cast<float>(learning.warm_up);
  if (learning.schedule == training::Schedule::cosine && learning.all_steps > 1) {
    const auto wave = static_cast<float>(std::numbers::pi / (learning.all_steps - 1));
    const auto lowest = static_cast<float>(learning.lowest);
    const float cosine = cosine_of(static_cast<float>(step) * wave);
    size *= std::fma((1.0F - lowest) * 0.5F, 1.0F + cosine, lowest);
  }
  return size;
}

void PlainNetwork::update() {
  const training::Learning& learning = setting_.learning;
  const float size = next_step();
  const bool adam = learning.optimiser == training::Optimiser::adam;
  const auto keep_first = static_cast<float>(adam ? learning.beta1 : learning.momentum);
  const auto keep_second = static_cast<float>(learning.beta2);
  const float epsilon = static_cast<float>(learning.epsilon) * schedule_.root;
  for (std::size_t l = 0; l < network_.layers.size(); ++l) {
    Layer& layer = network_.layers[l];
    const std::size_t inputs = layer.weights.size();
    for (std::size_t i = 0; i < gradients_[l].size(); ++i) {
      float& weight = i < inputs ? layer.weights[i] : layer.recurrent_weights[i - inputs];
      const float g = gradients_[l][i];
      float& m = first_[l][i];
      if (!adam) {
        m = std::fma(keep_first, m, g);
        weight = std::fma(-size, m, weight);
        continue;
      }
      float& v = second_[l][i];
      m = std::fma(keep_first, m, (1.0F - keep_first) * g);
      v = std::fma(keep_second, v, (1.0F - keep_second) * g * g);
      weight = std::fma(-size, m / (std::sqrt(v) + epsilon), weight);
    }
  }
}

}  // namespace tessera::snn
