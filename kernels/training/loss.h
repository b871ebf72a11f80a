#pragma once

#include <optional>

#include "kernels/training/builder.h"

/// Softmax and cross-entropy. A sample's result is two f32: its loss, and 1 if its largest logit is
/// its label's.
namespace tessera::training {

constexpr std::uint32_t kResultBytes = 2 * kElementBytes;

struct LossOf {
  std::uint32_t classes;
  std::uint32_t samples;  ///< that the mean is over
};

/// Samples on a tile, rows of `pitch` elements.
struct Samples {
  std::uint32_t tile;
  BufferId logits, gradients, labels, results;
  std::uint64_t count;
  std::uint64_t rows;  ///< of gradients: samples, and padding behind them
  std::uint32_t pitch;
};
/// The call of `codelet`, one of training_cross_entropy.
program::Vertex loss_call(Builder& builder, const std::string& codelet, const LossOf& loss,
                          const Samples& samples);

/// A step in which tile 0 adds up `count` results in their order: the sum of losses times `scale`,
/// and how many were right.
BufferId add_total(Builder& builder, const char* step, BufferId results, std::uint32_t count,
                   double scale, std::string_view name);
/// The transfer that tells the host such a sum.
program::HostTransfer telling(bool testing, Place total);

}  // namespace tessera::training
