#pragma once

#include <memory>

#include "kernels/butterfly/statement.h"

/// How factors are applied and what their twiddles' gradients are made of: twiddles of numbers on
/// packed words, twiddles of blocks as dense products.
namespace tessera::butterfly {

class Factors {
 public:
  /// The products of one factor: `gradient` comes back to its results, `x` went in.
  struct Products {
    const RowPass& pass;
    std::uint32_t stage;
    const GradientLayout& layout;
    BufferId sums, gradient, x;
  };

  virtual ~Factors() = default;
  /// Of F or F^H.
  virtual BufferId twiddles(const RowPass& pass, bool adjoint) = 0;
  /// Whether `in` and `out` of apply() may be the same.
  [[nodiscard]] virtual bool in_place() const = 0;
  /// Arrays that apply() needs in a round, or in all passes of a gradient.
  virtual void begin_round() = 0;
  virtual void apply(const RowPass& pass, BufferId twiddles, BufferId in, BufferId out) = 0;
  virtual void add_products(const Products& products) = 0;
};

/// Those of the problem. `statement` outlives them.
std::unique_ptr<Factors> make_factors(Statement& statement);

/// The steps of pass grad_twiddles.
void state_gradient(Statement& statement);

}  // namespace tessera::butterfly
