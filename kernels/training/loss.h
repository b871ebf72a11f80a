#pragma once

#include <optional>
#include <span>

#include "kernels/training/statement.h"

/// Softmax and cross-entropy. A sample's result is two f32: its loss, and 1 if its largest logit is
/// its label's.
namespace tessera::training {

constexpr std::uint32_t kResultBytes = 2 * kElementBytes;

struct LossOf {
  std::uint32_t classes;
  std::uint32_t samples;  ///< that the mean is over
};

/// A step in which tile 0 adds up `count` results in their order: the sum of losses times `scale`,
/// and how many were right, in an array there.
BufferId add_total(Statement& statement, const char* step, BufferId results, std::uint32_t count,
                   double scale, std::string_view name);
/// The sum of a batch's losses as cross_entropy() rounds it on so many tiles, each of which adds up
/// its samples in their order; then groups of about the root of the number of tiles with samples
/// add up theirs in order, then tile 0 the groups'.
float total_loss(std::span<const float> losses, std::uint32_t tiles);
/// Tells the host such a sum on tile 0.
void tell(plan::Description& description, bool testing, BufferId total);

std::function<std::uint64_t(Tile)> label_bytes(const Statement& statement, std::uint32_t samples);
/// An array for the labels of `samples` samples, those of a tile in order. `fill` gives them before
/// the run.
BufferId labels(Statement& statement, std::uint32_t samples,
                const std::function<std::uint32_t(std::uint32_t sample)>& fill = {});
/// Labels from the host: `feed` is asked for those of the n-th transfer.
using LabelFeed = std::function<std::uint32_t(std::uint64_t number, std::uint32_t sample)>;
std::function<void(Tile, plan::HostPieces&)> fed_labels(const Statement& statement, BufferId labels,
                                                        std::uint32_t samples,
                                                        const LabelFeed& feed);
/// States softmax and cross-entropy of the rows of `logits`. Tile 0 gets two f32: the mean loss of
/// `loss.samples`, and the number of rows whose largest logit is their label's. `gradient`, if it
/// is given, gets the gradient of the mean loss; in f16 it is multiplied by each tile's `scale`
/// (Scaling::state).
BufferId cross_entropy(Statement& statement, const MatrixArray& logits, const LossOf& loss,
                       BufferId labels, const MatrixArray* gradient,
                       std::optional<BufferId> scale = {});

}  // namespace tessera::training
