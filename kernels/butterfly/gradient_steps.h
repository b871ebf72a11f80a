#pragma once

#include <memory>
#include <vector>

#include "kernels/butterfly/assembly.h"
#include "kernels/butterfly/gradient.h"

/// What the gradient of twiddles is made of: factors there and back, and sums over columns of what
/// comes back times what went in.
namespace tessera::butterfly {

class GradientSteps {
 public:
  /// The products of one factor: `gradient` comes back to its results, `x` went in; all by tile.
  struct Products {
    const RowPass& pass;
    std::uint32_t stage;
    const GradientLayout& layout;
    const std::vector<BufferId>&sums, &gradient, &x;
  };

  virtual ~GradientSteps() = default;
  /// Of F or F^H, by tile.
  virtual std::vector<BufferId> twiddles(const RowPass& pass, bool adjoint) = 0;
  /// Whether `in` and `out` of apply() may be the same.
  [[nodiscard]] virtual bool in_place() const = 0;
  virtual void apply(const RowPass& pass, const std::vector<BufferId>& twiddles,
                     const std::vector<BufferId>& in, const std::vector<BufferId>& out) = 0;
  virtual void add_products(const Products& products) = 0;
};

/// Of twiddles of numbers, and of blocks.
std::unique_ptr<GradientSteps> word_steps(Assembly& assembly);
std::unique_ptr<GradientSteps> block_steps(Assembly& assembly, std::uint32_t contexts);

}  // namespace tessera::butterfly
