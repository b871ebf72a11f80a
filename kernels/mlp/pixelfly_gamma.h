#pragma once

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
  /// `w`: S, b in block column `bias`, U from column `first_of_u` on. All outlive it.
  PixelflyGamma(Assembly& assembly, sparse::Assembly& sparse, const LayerContext& context,
                const AtRest& w, std::uint64_t first_of_u);

  /// Adds the steps that make the copies; they are by tile.
  std::vector<BufferId> multiply();
  /// Adds the steps from the gradients of the copies to those of S, U and gamma.
  void add_gradients();
  /// Learned gamma, if it is.
  [[nodiscard]] const std::optional<training::Stretch>& parameter() const { return parameter_; }

 private:
  [[nodiscard]] std::vector<pixelfly::FactorRun> runs(std::uint32_t tile) const;
  void add_up(const std::vector<BufferId>& sums);

  Assembly& assembly_;
  sparse::Assembly& sparse_;
  const AtRest& w_;
  std::uint64_t first_of_u_, bias_;
  std::vector<BufferId> gamma_;  ///< by tile
  std::optional<training::Stretch> parameter_;
};

}  // namespace tessera::mlp
