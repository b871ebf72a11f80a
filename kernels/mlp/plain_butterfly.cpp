#include <algorithm>
#include <cmath>

#include "kernels/mlp/plain_map.h"

namespace tessera::mlp {

namespace {

/// Stack after stack, factor i joining features 2^i apart.
class PlainButterfly : public PlainStacks {
 public:
  PlainButterfly(const Linear& linear, Vector initial, const Arithmetic& arithmetic)
      : PlainStacks(linear, std::move(initial), arithmetic),
        stages_(linear.factors(1).stages()),
        rotates_(linear.layer.parameters == butterfly::Parameters::rotation),
        inputs_(stacks_),
        of_inputs_(stacks_ * stages_ * features_),
        of_gradients_(stacks_ * stages_ * features_) {
    PlainButterfly::refresh();
  }

  void refresh() override {
    PlainMap::refresh();
    if (!rotates_) return;
    turns_.clear();
    for (std::size_t i = 0; i + outputs_ < parameters.size(); ++i) {
      const double size = 1 + std::abs(parameters[i]);  // reduced to an eighth of a turn in f32
      turns_.push_back(round.single(round.near(std::cos(parameters[i]), size)));
      turns_.push_back(round.single(round.near(std::sin(parameters[i]), size)));
    }
  }

 private:
  Vector forward_stack(std::size_t s, const Vector& x, std::size_t count) override {
    inputs_[s].clear();
    Vector values = x;
    for (std::size_t stage = 0; stage < stages_; ++stage) {
      inputs_[s].push_back(values);
      for (std::size_t pair = 0; pair < features_ / 2; ++pair) {
        const Twiddle t = twiddle(s, stage, pair);
        const double a = values[t.first];
        const double b = values[t.second];
        values[t.first] = round.once(round(t.w[0] * a) + t.w[1] * b);
        values[t.second] = round.once(round(t.w[2] * a) + t.w[3] * b);
      }
    }
    values.resize(count);
    return values;
  }

  void backward_stack(std::size_t s, Vector back, bool /*wanted*/, Vector& further) override {
    for (std::size_t stage = stages_; stage-- > 0;) {
      const std::size_t at = (s * stages_ + stage) * features_;
      for (std::size_t i = 0; i < features_; ++i) {
        of_inputs_.add(at + i, inputs_[s][stage][i]);
        of_gradients_.add(at + i, back[i]);
      }
      for (std::size_t pair = 0; pair < features_ / 2; ++pair)
        add(twiddle(s, stage, pair), inputs_[s][stage], back);
    }
    for (std::size_t i = 0; i < further.size(); ++i) further[i] = round.once(further[i] + back[i]);
  }

  void finish_stacks(double root) override {
    const Vector x = of_inputs_.taken();
    const Vector back = of_gradients_.taken();
    for (std::size_t s = 0; s < stacks_; ++s)
      for (std::size_t stage = 0; stage < stages_; ++stage)
        for (std::size_t pair = 0; pair < features_ / 2; ++pair) {
          const Twiddle t = twiddle(s, stage, pair);
          const std::size_t at = (s * stages_ + stage) * features_;
          const double a = x[at + t.first], b = x[at + t.second];
          const double p = back[at + t.first], q = back[at + t.second];
          double* const g = &gradients[t.at];
          if (rotates_) {
            *g = round.sum(*g, std::hypot(p, q) * std::hypot(a, b), 2 * root);
          } else {
            g[0] = round.sum(g[0], p * a, root);
            g[1] = round.sum(g[1], p * b, root);
            g[2] = round.sum(g[2], q * a, root);
            g[3] = round.sum(g[3], q * b, root);
          }
        }
  }

  struct Twiddle {
    std::size_t first, second;  ///< features
    std::size_t at;             ///< of its parameters
    double w[4];
    double cosine, sine;  ///< of a rotation, in f32
  };
  [[nodiscard]] Twiddle twiddle(std::size_t stack, std::size_t stage, std::size_t pair) const {
    const std::size_t stride = std::size_t{1} << stage;
    const std::size_t first = pair / stride * 2 * stride + pair % stride;
    const std::size_t number = (stack * stages_ + stage) * features_ / 2 + pair;
    if (!rotates_) {
      const double* w = &weights[4 * number];
      return {first, first + stride, 4 * number, {w[0], w[1], w[2], w[3]}, 0, 0};
    }
    const double cosine = turns_[2 * number];
    const double sine = turns_[2 * number + 1];
    const double c = round(cosine);
    const double s = round(sine);
    return {first, first + stride, number, {c, -s, s, c}, cosine, sine};
  }
  void add(const Twiddle& t, const Vector& in, Vector& back) {
    const double a = in[t.first];
    const double b = in[t.second];
    const double p = back[t.first];
    const double q = back[t.second];
    if (rotates_) {
      gradients[t.at] += t.cosine * (q * a - p * b) - t.sine * (p * a + q * b);
    } else {
      gradients[t.at] += p * a;
      gradients[t.at + 1] += p * b;
      gradients[t.at + 2] += q * a;
      gradients[t.at + 3] += q * b;
    }
    back[t.first] = round.once(round(t.w[0] * p) + t.w[2] * q);
    back[t.second] = round.once(round(t.w[1] * p) + t.w[3] * q);
  }

  std::size_t stages_;
  bool rotates_;
  Vector turns_;                             ///< cosine and sine of each rotation
  std::vector<std::vector<Vector>> inputs_;  ///< of the sample, by stack and factor
  Squares of_inputs_, of_gradients_;         ///< of factors, by stack, factor and feature
};

}  // namespace

std::unique_ptr<PlainMap> plain_butterfly(const Linear& linear, Vector initial,
                                          const Arithmetic& arithmetic) {
  return std::make_unique<PlainButterfly>(linear, std::move(initial), arithmetic);
}

}  // namespace tessera::mlp
