#include <algorithm>
#include <cstring>

#include "kernels/training/assembly.h"
#include "kernels/training/results.h"

namespace tessera::training {

program::Vertex loss_call(Builder& builder, const std::string& codelet, const LossOf& loss,
                          const Samples& of) {
  return builder.all(
      of.tile, codelet,
      {Place{of.logits}, Place{of.gradients}, Place{of.labels}, Place{of.results}, word(of.count),
       loss.classes, of.pitch, bits_of(1.0 / loss.samples), word(of.rows)});
}

BufferId add_total(Builder& builder, const char* step, BufferId results, std::uint32_t count,
                   double scale, std::string_view name) {
  const std::uint32_t tile = builder.tile_of(results);
  const BufferId total = builder.buffer(tile, kResultBytes, name);
  builder.add_step(
      ComputeSet{step,
                 {builder.one(tile, "training_totals",
                              {Place{results}, Place{total}, count, bits_of(scale)})}});
  return total;
}

program::HostTransfer telling(bool testing, Place total) {
  return {std::string(testing ? kTestResults : kTrainingResults),
          program::HostTransfer::Direction::write,
          {{total, kResultBytes}}};
}

/// Rows of the batch, padding included, by tile.
kernels::EvenSplit Assembly::samples_by_tile(std::uint32_t rows) const {
  return {rows, std::min(rows, machine().tiles)};
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
BufferId Assembly::cross_entropy(const Matrix& logits, const LossOf& loss,
                                 const std::vector<BufferId>& labels, const Matrix* gradient,
                                 const std::vector<BufferId>& scales) {
  const kernels::EvenSplit split = samples_by_tile(logits.rows);
  const std::uint64_t row_bytes = logits.pitch * logits.element_bytes();
  Exchange gather{"logits", {}};
  ComputeSet set{"loss", {}};
  Exchange scatter{"logit gradients", {}};
  const BufferId all = buffer(0, std::uint64_t{logits.rows} * kResultBytes, "losses");
  for (std::uint32_t t = 0; t < split.parts; ++t) {
    const kernels::Interval mine = split.part(t);
    const std::uint64_t rows = t + 1 == split.parts ? logits.padded_rows - mine.begin : mine.size();
    const Samples samples{t,
                          buffer(t, mine.size() * row_bytes, "logits of samples"),
                          buffer(t, rows * row_bytes, "gradients of samples"),
                          labels[t],
                          buffer(t, mine.size() * kResultBytes, "losses of samples"),
                          mine.size(),
                          rows,
                          logits.pitch};
    for (const auto& piece : logits.lies.stored.pieces(mine.begin, 0, mine.size() * row_bytes))
      gather.copies.push_back({{logits.lies.buffers[piece.tile], piece.offset},
                               piece.bytes,
                               {{samples.logits, piece.at}}});
    set.vertices.push_back(loss_call(*this, typed("training_cross_entropy"), loss, samples));
    if (!scales.empty()) set.vertices.back().arguments.emplace_back(Place{scales[t]});
    scatter.copies.push_back({{samples.results},
                              word(mine.size() * kResultBytes),
                              {{all, word(mine.begin * kResultBytes)}}});
    if (gradient == nullptr) continue;
    for (const auto& piece : gradient->lies.stored.pieces(mine.begin, 0, rows * row_bytes))
      scatter.copies.push_back({{samples.gradients, piece.at},
                                piece.bytes,
                                {{gradient->lies.buffers[piece.tile], piece.offset}}});
  }
  add_step(std::move(gather));
  add_step(std::move(set));
  add_step(std::move(scatter));
  return add_total(*this, "total loss", all, logits.rows, 1.0 / loss.samples, "totals");
}

}  // namespace tessera::training
