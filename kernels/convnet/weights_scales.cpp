#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/convnet/weights.h"
#include "sim/base/errors.h"
#include "sim/base/ranges.h"

namespace tessera::convnet {

namespace {

/// Larger exponents are useless, and indicate scales that raise each other endlessly.
constexpr int kMostExponent = 64;

/// multiplier / 2^shift nearest to 1 / count, with a multiplier of one bit less than the type.
struct Reciprocal {
  std::uint32_t multiplier, shift;
};
Reciprocal reciprocal(std::uint64_t count, program::Type type) {
  const std::uint64_t least = std::uint64_t{1} << (bits_of(type) - 2);
  // The starting shift makes 2^shift / count at least half of `least`.
  auto shift = static_cast<std::uint32_t>(std::bit_width(count)) + bits_of(type) - 3;
  const auto nearest = [&] { return ((std::uint64_t{2} << shift) + count) / (2 * count); };
  while (nearest() < least) ++shift;
  if (nearest() >= 2 * least) return {static_cast<std::uint32_t>(least), shift - 1};
  return {static_cast<std::uint32_t>(nearest()), shift};
}

class Calibration {
 public:
  Calibration(Model& model, int exponent, std::span<const RealWeights> real, HostThreads& threads)
      : model_(model), layers_(model.network.layers), real_(real), threads_(threads) {
    require(layers_.front(),
            !layers_.front().fixed_exponent || *layers_.front().fixed_exponent == exponent,
            "its exponent is fixed, but the image has another");
    layers_.front().exponent = exponent;
  }

  void run() {
    const int image_exponent = layers_.front().exponent;
    find_exponents();
    for (std::size_t round = 0; raise_exponents(); ++round)
      require(layers_.back(), round < layers_.size() * kMostExponent, "scales do not converge");
    for (std::size_t i = 1; i < layers_.size(); ++i) set_scales(i);
    rescale(model_.image, layers_.front().exponent - image_exponent);
  }

 private:
  void require(const Layer& layer, bool holds, const char* problem) const {
    if (!holds)
      throw UserError("network '{}': layer '{}': {}", model_.network.name, layer.name, problem);
  }

  void rescale(Tensor& tensor, int shift) const {
    if (shift == 0) return;
    const program::Type type = layers_.front().type;
    const std::uint32_t all = std::min(static_cast<std::uint32_t>(shift), bits_of(type) + 1);
    for (std::int16_t& value : tensor.values) value = requantised(value, all, false, type);
  }

  // Exponents of a layer's inputs.
  [[nodiscard]] std::vector<int> exponents(const Layer& layer) const {
    return mapped(layer.inputs, [&](std::uint32_t input) { return layers_[input].exponent; });
  }
  [[nodiscard]] int finest(const Layer& layer) const { return std::ranges::min(exponents(layer)); }
  [[nodiscard]] int coarsest(const Layer& layer) const {
    return std::ranges::max(exponents(layer));
  }
  static Reciprocal mean_of(const Layer& layer) {
    return reciprocal(std::uint64_t{layer.window.height} * layer.window.width, layer.type);
  }
  /// The exponent of a layer's sums, before any shift.
  [[nodiscard]] int sum_exponent(std::size_t number) const {
    const Layer& layer = layers_[number];
    if (layer.has_weights()) return exponents(layer)[0] + model_.weights[number].exponent;
    if (layer.op == Operator::average_pool)
      return exponents(layer)[0] - static_cast<int>(mean_of(layer).shift);
    return layer.op == Operator::add ? finest(layer) : coarsest(layer);
  }
  /// Largest difference between the exponents of added tensors.
  static int most_apart(const Layer& layer) {
    return static_cast<int>(most_left_shift(layer.type));
  }
  static bool has_sums(const Layer& layer) {
    return layer.has_weights() || layer.op == Operator::average_pool || layer.op == Operator::add;
  }

  /// Sets shift and factors between a layer's sums and its output from the current exponents.
  void set_scales(std::size_t number) {
    Layer& layer = layers_[number];
    if (!has_sums(layer)) return;
    const int shift = layer.exponent - sum_exponent(number);
    require(layer, shift >= 0, "its fixed exponent is below that of its sums");
    require(layer, shift <= static_cast<int>(kMostShift),
            "its values are too small for the scale that it shares");
    layer.shift = static_cast<std::uint32_t>(shift);
    set_factors(number);
  }
  /// Sets multipliers and biases.
  void set_factors(std::size_t number) {
    Layer& layer = layers_[number];
    if (layer.op == Operator::average_pool) layer.multiplier = mean_of(layer).multiplier;
    if (layer.op == Operator::add)
      for (std::size_t i = 0; i < 2; ++i)
        layer.left_shifts[i] = static_cast<std::uint32_t>(exponents(layer)[i] - finest(layer));
    if (!layer.has_weights()) return;
    for (std::size_t i = 0; i < real_[number].bias.size(); ++i) {
      const double bias = std::nearbyint(std::ldexp(real_[number].bias[i], -sum_exponent(number)));
      if (layer.type == program::Type::i8)
        require(layer, std::abs(bias) < 0x1p30, "a bias is 2^30 times its scale or more");
      else
        require(layer, std::abs(bias) < 0x1p60, "a bias is 2^60 times its scale or more");
      model_.weights[number].bias[i] = static_cast<std::int64_t>(bias);
    }
  }

  /// Runs the network; each tensor gets the smallest exponent that holds its values and is
  /// compatible with related tensors.
  void find_exponents() {
    std::vector<Tensor> tensors = {model_.image};
    for (std::size_t i = 1; i < layers_.size(); ++i) {
      const Layer& layer = layers_[i];
      const int least = coarsest(layer) - (layer.op == Operator::add ? most_apart(layer) : 0);
      std::vector<const Tensor*> inputs;
      for (const std::uint32_t input : layer.inputs) {
        const int before = layers_[input].exponent;
        if (raise(input, least)) rescale(tensors[input], least - before);
        inputs.push_back(&tensors[input]);
      }
      tensors.push_back(has_sums(layer) ? summed(i, inputs) : moved(i, inputs));
    }
  }
  /// Output of a layer without sums; sets its exponent.
  Tensor moved(std::size_t number, const std::vector<const Tensor*>& inputs) {
    Layer& layer = layers_[number];
    layer.exponent = layer.fixed_exponent.value_or(coarsest(layer));
    require(layer, layer.exponent >= coarsest(layer), "its fixed exponent is below its inputs'");
    Tensor out = forward(layer, nullptr, inputs, threads_);
    rescale(out, layer.exponent - coarsest(layer));
    return out;
  }
  Tensor summed(std::size_t number, const std::vector<const Tensor*>& inputs) {
    Layer& layer = layers_[number];
    set_factors(number);
    const Sums sums =
        sums_of(layer, layer.has_weights() ? &model_.weights[number] : nullptr, inputs, threads_);
    layer.exponent = layer.fixed_exponent.value_or(sum_exponent(number) + shift_of(layer, sums));
    set_scales(number);
    return requantised(layer, sums);
  }
  /// The smallest shift that holds the largest sum.
  static int shift_of(const Layer& layer, const Sums& sums) {
    std::int64_t largest = 0;
    for (const std::int64_t sum : sums)
      largest = std::max(largest, layer.relu ? sum : std::abs(sum));
    if (largest == 0) return -image_exponent(layer.type);  // all values are 0: any shift is as good
    std::uint32_t shift = 0;
    while (shifted(largest, shift) > largest_of(layer.type)) ++shift;
    return static_cast<int>(shift);
  }

  /// Raises the exponent of layer `number` to at least `exponent`; true if it changed.
  bool raise(std::size_t number, int exponent) {
    Layer& layer = layers_[number];
    if (layer.exponent >= exponent) return false;
    require(layer, !layer.fixed_exponent,
            "its fixed exponent is too small for the tensors that share it");
    require(layer, exponent <= kMostExponent, "its values are too large");
    layer.exponent = exponent;
    return true;
  }
  /// Raises exponents as layers require; true if any changed.
  bool raise_exponents() {
    bool changed = false;
    for (std::size_t i = 1; i < layers_.size(); ++i) {
      const Layer& layer = layers_[i];
      if (has_sums(layer)) changed |= raise(i, sum_exponent(i));
      if (layer.op == Operator::add)
        for (const std::uint32_t input : layer.inputs)
          changed |= raise(input, coarsest(layer) - most_apart(layer));
      if (has_sums(layer)) continue;
      changed |= raise(i, coarsest(layer));
      for (const std::uint32_t input : layer.inputs) changed |= raise(input, layer.exponent);
    }
    return changed;
  }

  Model& model_;
  std::vector<Layer>& layers_;
  std::span<const RealWeights> real_;
  HostThreads& threads_;
};

}  // namespace

void calibrate(Model& model, int exponent, std::span<const RealWeights> real,
               HostThreads& threads) {
  Calibration(model, exponent, real, threads).run();
}

}  // namespace tessera::convnet
