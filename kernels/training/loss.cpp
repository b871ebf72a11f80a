#include <algorithm>
#include <cstring>

#include "kernels/training/assembly.h"

namespace tessera::training {

namespace {

constexpr std::uint32_t kResultBytes = 2 * kElementBytes;  // of a sample: loss, right or wrong

}  // namespace

/// Rows of the batch, padding included, by tile.
kernels::EvenSplit Assembly::samples_by_tile(std::uint32_t rows) const {
  return {rows, std::min(rows, machine_.tiles)};
}

std::vector<BufferId> Assembly::labels(std::uint32_t samples,
                                       const std::function<std::uint32_t(std::uint32_t)>& fill) {
  const kernels::EvenSplit split = samples_by_tile(samples);
  std::vector<BufferId> buffers;
  for (std::uint32_t t = 0; t < split.parts; ++t) {
    std::function<void(std::span<std::byte>)> contents;
    if (fill) {
      contents = [fill, mine = split.part(t)](std::span<std::byte> into) {
        for (std::uint64_t i = 0; i < mine.size(); ++i) {
          const std::uint32_t label = fill(word(mine.begin + i));
          std::memcpy(into.data() + i * sizeof label, &label, sizeof label);
        }
      };
    }
    buffers.push_back(
        buffer(t, split.part(t).size() * kElementBytes, "labels", std::move(contents)));
  }
  return buffers;
}

void Assembly::add_feed(program::HostTransfer& transfer, const std::vector<BufferId>& labels,
                        std::uint32_t samples, const LabelFeed& feed) const {
  const kernels::EvenSplit split = samples_by_tile(samples);
  for (std::uint32_t t = 0; t < split.parts; ++t) {
    const auto contents = [feed, mine = split.part(t)](std::span<std::byte> into,
                                                       std::uint64_t number) {
      for (std::uint64_t i = 0; i < mine.size(); ++i) {
        const std::uint32_t label = feed(number, word(mine.begin + i));
        std::memcpy(into.data() + i * sizeof label, &label, sizeof label);
      }
    };
    transfer.pieces.push_back({{labels[t]}, word(split.part(t).size() * kElementBytes), contents});
  }
}

/// Each tile takes the logits of its samples, and gives back gradients and losses; tile 0 adds
/// losses up in the order of the samples. Rows of padding stand on the last tile that has samples.
BufferId Assembly::cross_entropy(const Matrix& logits, const Loss& loss, const Matrix* gradient) {
  const kernels::EvenSplit split = samples_by_tile(logits.rows);
  const std::uint64_t row_bytes = logits.pitch * logits.element_bytes();
  const std::uint32_t samples = loss.samples == 0 ? logits.rows : loss.samples;
  program::Exchange gather{"logits", {}};
  program::ComputeSet set{"loss", {}};
  program::Exchange scatter{"logit gradients", {}};
  const BufferId all = buffer(0, std::uint64_t{logits.rows} * kResultBytes, "losses");
  for (std::uint32_t t = 0; t < split.parts; ++t) {
    const kernels::Interval mine = split.part(t);
    const std::uint64_t rows = t + 1 == split.parts ? logits.padded_rows - mine.begin : mine.size();
    const BufferId given = buffer(t, mine.size() * row_bytes, "logits of samples");
    const BufferId made = buffer(t, rows * row_bytes, "gradients of samples");
    const BufferId results = buffer(t, mine.size() * kResultBytes, "losses of samples");
    for (const auto& piece : logits.lies.stored.pieces(mine.begin, 0, mine.size() * row_bytes))
      gather.copies.push_back(
          {{logits.lies.buffers[piece.tile], piece.offset}, piece.bytes, {{given, piece.at}}});
    set.vertices.push_back(
        {TileId(t),
         typed_codelet("training_cross_entropy"),
         program::Executor::all_workers,
         0,
         {Place{given}, Place{made}, Place{loss.labels[t]}, Place{results}, word(mine.size()),
          loss.classes, logits.pitch, bits_of(1.0 / samples), word(rows)}});
    if (!loss.scales.empty()) set.vertices.back().arguments.emplace_back(Place{loss.scales[t]});
    scatter.copies.push_back(
        {{results}, word(mine.size() * kResultBytes), {{all, word(mine.begin * kResultBytes)}}});
    if (gradient == nullptr) continue;
    for (const auto& piece : gradient->lies.stored.pieces(mine.begin, 0, rows * row_bytes))
      scatter.copies.push_back(
          {{made, piece.at}, piece.bytes, {{gradient->lies.buffers[piece.tile], piece.offset}}});
  }
  add_step(std::move(gather));
  add_step(std::move(set));
  add_step(std::move(scatter));
  const BufferId totals = buffer(0, kResultBytes, "totals");
  program::ComputeSet sum{"total loss", {}};
  sum.vertices.push_back({TileId{0},
                          codelet("training_totals"),
                          program::Executor::one_worker,
                          0,
                          {Place{all}, Place{totals}, logits.rows, bits_of(1.0 / samples)}});
  add_step(std::move(sum));
  return totals;
}

}  // namespace tessera::training
