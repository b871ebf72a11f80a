#pragma once

#include <algorithm>
#include <vector>

#include "kernels/sparse/code/statement.h"
#include "kernels/sparse/operand/block_matrix.h"

/// W = gamma S + (1 - gamma) U V^T (arXiv 2112.00029): on tiles the stored values of S and U are
/// multiplied by their factor, in f32 and rounded once, before products take them; gradients
/// likewise before they are those of the stored values. Gamma and 1 - gamma are f32.
namespace tessera::pixelfly {

/// What an element is multiplied by, numbered as the tile code has it.
enum class Factor : std::uint8_t {
  of_s,   ///< gamma
  of_uv,  ///< 1 - gamma
  none    ///< 1: biases, padding
};
[[nodiscard]] float factor_of(Factor factor, double gamma);
/// What the machine makes of a value of `type`.
[[nodiscard]] double scaled(double value, float factor, program::Type type);

/// Elements side by side with one factor.
struct FactorRun {
  std::uint64_t count;
  Factor factor;
};
/// Runs of the elements numbered `elements` among those of `blocks` blocks: block e begins at
/// begin(e), the last ends at begin(blocks), its factor is factor(e); elements behind have none.
template <class Begin, class Of>
std::vector<FactorRun> factor_runs(kernels::Interval elements, std::uint64_t blocks,
                                   const Begin& begin, const Of& factor) {
  std::uint64_t e = 0;  // the first that ends behind the first element
  for (std::uint64_t last = blocks; e < last;) {
    const std::uint64_t middle = e + (last - e) / 2;
    if (begin(middle + 1) <= elements.begin)
      e = middle + 1;
    else
      last = middle;
  }
  std::vector<FactorRun> runs;
  for (std::uint64_t at = elements.begin; at < elements.end; ++e) {
    const std::uint64_t end =
        e < blocks ? std::min<std::uint64_t>(begin(e + 1), elements.end) : elements.end;
    const Factor of = e < blocks ? factor(e) : Factor::none;
    if (runs.empty() || runs.back().factor != of) runs.push_back({0, of});
    runs.back().count += end - at;
    at = end;
  }
  return runs;
}

/// Calls that multiply what tiles hold of an array by the factors of its elements.
class Scaling {
 public:
  using Runs = std::function<std::vector<FactorRun>(sparse::Tile)>;  ///< of a tile's elements
  Scaling(const sparse::Statement& statement, program::Type type, double gamma, const Runs& runs);
  /// Gamma is one f32 in an array of all tiles that have elements.
  Scaling(const sparse::Statement& statement, program::Type type, program::BufferId gamma,
          const Runs& runs);
  /// `from` times factors becomes `to`, which may be the same.
  void add(plan::Calls& calls, sparse::Tile tile, program::BufferId from,
           program::BufferId to) const;
  /// Scales gradients in place and adds to `sums`, one f32 a worker, each worker's part of the
  /// gradient of gamma: the sum of gradient times weight over S minus that over U. Runs are whole
  /// words. `code`: gradient_code().
  void add_gradients(plan::Calls& calls, sparse::Tile tile, sparse::Codelet code,
                     program::BufferId gradients, program::BufferId weights,
                     program::BufferId sums) const;
  [[nodiscard]] static sparse::Codelet gradient_code(const sparse::Statement& statement,
                                                     program::Type type);

 private:
  void add_call(plan::Calls& calls, sparse::Tile tile, sparse::Codelet code,
                std::vector<program::Argument> arguments) const;

  program::Type type_;
  sparse::Codelet code_;
  Runs runs_;
  program::BufferId gamma_{}, lists_{};
};

/// The call of `code`, gamma_sum: `count` f32 become four, their sum and zeros.
program::Vertex sum_of(sparse::Codelet code, program::BufferId from, std::uint64_t count,
                       program::BufferId to);
constexpr std::uint64_t kSumBytes = 16;

}  // namespace tessera::pixelfly
