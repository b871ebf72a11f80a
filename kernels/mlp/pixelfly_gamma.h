#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernels/mlp/pixelfly_weights.h"

namespace tessera::mlp {

/// Gamma of a pixelfly layer, W = gamma S + (1 - gamma) U V^T with b beside it, fixed or learned.
/// Every turn the tiles that hold S and U multiply them into copies, which products take, and
/// gradients with respect to these copies become those of S and U where they lie. A learned gamma
/// is an f32 parameter on tile 0: each turn sends it to those tiles, and its gradient is added up
/// over them.
class PixelflyGamma {
 public:
  /// `w`: S, b in the block column behind the inputs, U from column `first_of_u` on.
  PixelflyGamma(training::Statement& statement, const LayerContext& context,
                std::shared_ptr<const AtRest> w, std::uint64_t first_of_u);

  /// States the steps that make copies of `weights`; they lie likewise.
  BufferId multiply(BufferId weights);
  /// States the steps from the gradients of the copies to those of S, U and gamma.
  void add_gradients(const Parameters& w);
  /// Learned gamma, if it is.
  [[nodiscard]] const std::optional<Parameters>& parameter() const { return parameter_; }

 private:
  [[nodiscard]] sparse::Statement sparse() const {
    return {statement_.description(), statement_.tile_code().sparse, statement_.contexts()};
  }
  void add_up(BufferId sums);

  training::Statement& statement_;
  std::shared_ptr<const AtRest> w_;
  std::optional<Parameters> parameter_;
  BufferId gamma_{};                          ///< on each tile, if it is learned
  pixelfly::Scaling::Runs runs_;              ///< of elements at rest
  double fixed_ = 0;                          ///< gamma, if it is not learned
  std::optional<pixelfly::Scaling> scaling_;  ///< made when it is first called
};

}  // namespace tessera::mlp
