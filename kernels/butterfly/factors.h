#pragma once

#include <memory>
#include <vector>

#include "kernels/butterfly/gradient.h"
#include "kernels/butterfly/statement.h"
#include "kernels/sparse/code/relayout.h"

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
std::unique_ptr<Factors> make_block_factors(Statement& statement);

/// The steps of pass grad_twiddles.
void state_gradient(Statement& statement);

/// How one side of the product of a pair of blocks is cut: where a block is one block of the matrix
/// unit, those of both legs are as far apart as the legs, and one call takes them; else each leg
/// has a call of its own.
struct BlockCut {
  std::uint32_t calls;     ///< 1 or 2
  std::uint32_t blocks;    ///< of the matrix unit, in a call
  std::uint32_t features;  ///< of one of them

  BlockCut(std::uint32_t padded, std::uint32_t of_one)
      : calls(padded == of_one ? 1 : 2), blocks(2 * padded / of_one / calls), features(of_one) {}
  /// The feature, counted over both legs with padding, of feature `i` of block `b` of a call.
  [[nodiscard]] std::uint32_t feature(std::uint32_t call, std::uint32_t b, std::uint32_t i) const {
    return (call * blocks + b) * features + i;
  }
};

/// Inputs and outputs of a product.
struct BlockCuts {
  BlockCut in, out;

  explicit BlockCuts(const Problem& problem)
      : in(problem.padded(), problem.shape.depth), out(problem.padded(), problem.shape.columns) {}

  struct Of {
    const RowPass& pass;
    std::uint32_t part;  ///< of the features
    bool adjoint;
  };
  /// Writes the twiddles of some groups in the order of the calls.
  void fill(const Problem& problem, const Twiddles& twiddles, const Of& of, Interval groups,
            std::span<std::byte> into) const;
};

/// Squares of words of every pair's rows.
struct Turning {
  Geometry geometry;
  RowPass pass;

  /// Of a tile.
  [[nodiscard]] std::uint64_t count(plan::Tile tile) const;
  [[nodiscard]] std::vector<sparse::SquareRun> squares(plan::Tile tile) const;
  /// An array of them. Estimates need its contents too: the tile code goes by them.
  [[nodiscard]] BufferId add_list(Statement& statement) const;
};

}  // namespace tessera::butterfly
