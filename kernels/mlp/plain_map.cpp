#include "kernels/mlp/plain_map.h"

#include <algorithm>
#include <cmath>

namespace tessera::mlp {

Vector Squares::taken() {
  Vector norms(sums_.size());
  for (std::size_t i = 0; i < sums_.size(); ++i) norms[i] = std::sqrt(sums_[i]);
  std::ranges::fill(sums_, 0.0);
  return norms;
}

PlainStacks::PlainStacks(const Linear& linear, Vector initial, const Arithmetic& arithmetic)
    : PlainMap(std::move(initial), arithmetic),
      outputs_(linear.outputs),
      features_(linear.factors(1).features),
      stacks_(linear.stacks()),
      of_bias_(outputs_) {}

Vector PlainStacks::padded(const Vector& values, std::size_t stack) const {
  Vector all(features_);
  for (std::size_t i = 0; i < features_ && stack * features_ + i < values.size(); ++i)
    all[i] = values[stack * features_ + i];
  return all;
}

Vector PlainStacks::forward(const Vector& x) {
  const double* const bias = &weights[weights.size() - outputs_];
  Vector y;
  for (std::size_t s = 0; s < stacks_; ++s)
    for (const double value :
         forward_stack(s, padded(x, 0), std::min(features_, outputs_ - s * features_)))
      y.push_back(round.once(value + bias[y.size()]));
  return y;
}

Vector PlainStacks::backward(const Vector& x, const Vector& gradient, bool wanted) {
  Vector further(x.size());
  for (std::size_t s = 0; s < stacks_; ++s) backward_stack(s, padded(gradient, s), wanted, further);
  double* const bias = &gradients[gradients.size() - outputs_];
  for (std::size_t i = 0; i < outputs_; ++i) bias[i] += gradient[i];
  of_bias_.add(gradient);
  return further;
}

void PlainStacks::finish_gradients(std::uint32_t samples) {
  const double root = std::sqrt(samples);
  finish_stacks(root);
  const Vector norms = of_bias_.taken();
  double* const bias = &gradients[gradients.size() - outputs_];
  for (std::size_t i = 0; i < outputs_; ++i) bias[i] = round.sum(bias[i], norms[i] * root, root);
  round_gradients();
}

void PlainStacks::round_gradients() {
  for (double& each : gradients) each = round.single(each);
}

namespace {

class PlainDense : public PlainMap {
 public:
  PlainDense(const Linear& linear, Vector initial, const Arithmetic& arithmetic)
      : PlainMap(std::move(initial), arithmetic), linear_(linear) {
    PlainDense::refresh();
  }

  void refresh() override {
    PlainMap::refresh();
    if (!round.perturbs()) return;
    Squares rows(linear_.columns());
    Squares columns(linear_.outputs);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      rows.add(i / linear_.outputs, weights[i]);
      columns.add(i % linear_.outputs, weights[i]);
    }
    row_norms_ = rows.taken();
    column_norms_ = columns.taken();
  }

  Vector forward(const Vector& x) override {
    const std::size_t n = linear_.outputs;
    Vector y(n, 0.0);
    double squares = 0;
    if (linear_.bias) {
      std::copy_n(&weights[linear_.inputs * n], n, y.begin());
      squares = 1;
    }
    for (std::size_t row = 0; row < linear_.inputs; ++row) {
      const double value = x[row];
      const double* const w = &weights[row * n];
      squares += value * value;
      for (std::size_t c = 0; c < n; ++c) y[c] += value * w[c];
    }
    perturb(y, std::sqrt(squares), column_norms_, linear_.columns());
    round.all(y);
    return y;
  }

  Vector backward(const Vector& x, const Vector& gradient, bool wanted) override {
    x_.insert(x_.end(), x.begin(), x.begin() + linear_.inputs);
    if (linear_.bias) x_.push_back(1);
    gradients_of_y_.insert(gradients_of_y_.end(), gradient.begin(), gradient.end());
    return wanted ? further(gradient) : Vector();
  }

  void finish_gradients(std::uint32_t samples) override {
    const std::size_t n = linear_.outputs;
    const std::size_t rows = linear_.columns();
    Squares columns(n);
    for (std::size_t i = 0; i < gradients_of_y_.size(); ++i) columns.add(i % n, gradients_of_y_[i]);
    const Vector column_norms = columns.taken();
    for (std::size_t row = 0; row < rows; ++row) {
      double* const to = &gradients[row * n];
      double squares = 0;
      for (std::size_t sample = 0; sample < samples; ++sample) {
        const double value = x_[sample * rows + row];
        const double* const g = &gradients_of_y_[sample * n];
        squares += value * value;
        for (std::size_t c = 0; c < n; ++c) to[c] += value * g[c];
      }
      perturb({to, n}, std::sqrt(squares), column_norms, samples);
    }
    x_.clear();
    gradients_of_y_.clear();
    round_gradients();
  }

 private:
  /// W times the gradient.
  Vector further(const Vector& gradient) {
    const std::size_t n = linear_.outputs;
    Vector back(linear_.inputs);
    for (std::size_t row = 0; row < linear_.inputs; ++row) {
      double sum = 0;
      for (std::size_t c = 0; c < n; ++c) sum += weights[row * n + c] * gradient[c];
      back[row] = sum;
    }
    perturb(back, std::sqrt(norm_squared(gradient)), row_norms_, n);
    round.all(back);
    return back;
  }

  const Linear& linear_;
  Vector row_norms_, column_norms_;
  Vector x_, gradients_of_y_;  ///< of a copy's samples
};

}  // namespace

std::unique_ptr<PlainMap> plain_map(const Linear& linear, std::size_t product, Vector initial,
                                    const Arithmetic& arithmetic) {
  if (linear.transforms()) return plain_transform(linear, product, std::move(initial), arithmetic);
  if (linear.layer.kind == LayerKind::butterfly)
    return plain_butterfly(linear, std::move(initial), arithmetic);
  if (linear.layer.kind == LayerKind::pixelfly)
    return plain_pixelfly(linear, std::move(initial), arithmetic);
  return std::make_unique<PlainDense>(linear, std::move(initial), arithmetic);
}

}  // namespace tessera::mlp
