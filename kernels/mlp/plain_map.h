#pragma once

#include <memory>
#include <vector>

#include "kernels/mlp/network.h"

/// Linear maps in double, a sample at a time, written without regard to the machine's; in f16, what
/// products take and give is rounded to f16.
namespace tessera::mlp {

using Vector = std::vector<double>;

/// What a number becomes that is kept as f16; as f32 it stays in double.
class Rounding {
 public:
  explicit Rounding(program::Type type) : halves_(type == program::Type::f16) {}
  double operator()(double value) const {
    return halves_ ? data::rounded(program::Type::f16, value) : value;
  }
  void all(Vector& values) const {
    if (halves_)
      for (double& each : values) each = (*this)(each);
  }

 private:
  bool halves_;
};

/// y = x W + b with its parameters in the order of initial_parameters().
class PlainMap {
 public:
  PlainMap(const PlainMap&) = delete;
  PlainMap& operator=(const PlainMap&) = delete;
  virtual ~PlainMap() = default;
  [[nodiscard]] virtual Vector forward(const Vector& x) = 0;
  /// Adds to `gradients`; the gradient of x. After forward() of the same x.
  virtual Vector backward(const Vector& x, const Vector& gradient) = 0;
  /// After a change of `parameters`.
  virtual void refresh() {
    weights = parameters;
    round.all(weights);
  }
  /// Gradients of what samples saw become those of parameters; once for all samples of a copy.
  virtual void finish_gradients() {}
  /// Of a batch: those of factors are kept in f32.
  virtual void round_gradients() { round.all(gradients); }

  Vector parameters, gradients;

 protected:
  PlainMap(Vector initial, program::Type type)
      : parameters(std::move(initial)), gradients(parameters.size()), round(type) {
    weights = parameters;
    round.all(weights);
  }
  Rounding round;
  Vector weights;  ///< what parameters are in products
};

std::unique_ptr<PlainMap> plain_map(const Linear& linear, Vector initial,
                                    program::Type type = program::Type::f32);

}  // namespace tessera::mlp
