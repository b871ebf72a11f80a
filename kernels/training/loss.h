#pragma once

#include <optional>
#include <span>

#include "kernels/training/statement.h"

/// Softmax and cross-entropy. A sample's result is two f32: its loss, and 1 if its largest logit is
/// the label's, else 0.
namespace tessera::training {

constexpr std::uint32_t kResultBytes = 2 * kElementBytes;

struct LossOf {
  std::uint32_t classes;
  std::uint32_t samples;  ///< divisor of the mean
};

/// Adds a step in which tile 0 adds up `count` results in order. Returns the array there: the sum
/// of losses times `scale`, and the number of correct samples.
BufferId add_total(Statement& statement, const char* step, BufferId results, std::uint32_t count,
                   double scale, std::string_view name);
/// The sum of a batch's losses, rounded as cross_entropy() rounds it on `tiles` tiles: each tile
/// adds its samples in order, each group of about sqrt(tiles with samples) tiles adds its tiles'
/// sums in order, and tile 0 adds the groups' sums.
float total_loss(std::span<const float> losses, std::uint32_t tiles);
/// Sends two f32 on tile 0 to the host, such as such a sum: transfer `name`.
void tell(plan::Description& description, std::string_view name, Place numbers);

/// The labels of batches of `samples` samples, in order on each tile. `label` returns them by
/// number of the batch.
using LabelOf = std::function<std::uint32_t(std::uint64_t number, std::uint32_t sample)>;
Batch label_batch(const Statement& statement, std::uint32_t samples, const LabelOf& label);
/// Adds softmax and cross-entropy of the rows of `logits`. Returns an array of two f32 on tile 0:
/// the sum of losses over `loss.samples`, and the number of rows whose largest logit is the
/// label's. `gradient`, if given, receives the gradient of the mean loss; in f16 it is multiplied
/// by each tile's `scale` (Scaling::state).
BufferId cross_entropy(Statement& statement, const MatrixArray& logits, const LossOf& loss,
                       BufferId labels, const MatrixArray* gradient,
                       std::optional<BufferId> scale = {});

}  // namespace tessera::training
