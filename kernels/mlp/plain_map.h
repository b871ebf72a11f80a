#pragma once

#include <memory>
#include <vector>

#include "kernels/mlp/network.h"

/// Linear maps in double, a sample at a time, written without regard to the machine's.
namespace tessera::mlp {

using Vector = std::vector<double>;

/// y = x W + b with its parameters in the order of initial_parameters().
class PlainMap {
 public:
  PlainMap(const PlainMap&) = delete;
  PlainMap& operator=(const PlainMap&) = delete;
  virtual ~PlainMap() = default;
  [[nodiscard]] virtual Vector forward(const Vector& x) = 0;
  /// Adds to `gradients`; the gradient of x. After forward() of the same x.
  virtual Vector backward(const Vector& x, const Vector& gradient) = 0;

  Vector parameters, gradients;

 protected:
  explicit PlainMap(Vector initial)
      : parameters(std::move(initial)), gradients(parameters.size()) {}
};

std::unique_ptr<PlainMap> plain_map(const Linear& linear, Vector initial);

}  // namespace tessera::mlp
