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

program::Vertex loss_call(const Code& code, const LossOf& loss, const Samples& of) {
  return code.all({Place{of.logits}, Place{of.gradients}, Place{of.labels}, Place{of.results},
                   word(of.count), loss.classes, of.pitch, bits_of(1.0 / loss.samples),
                   word(of.rows)});
}

BufferId add_total(Statement& statement, const char* step, BufferId results, std::uint32_t count,
                   double scale, std::string_view name) {
  const BufferId total = statement.array_on(0, name, kResultBytes);
  const program::Vertex vertex =
      statement.code("training_totals").one({Place{results}, Place{total}, count, bits_of(scale)});
  statement.description().compute(
      step, 1, [vertex](Tile /*tile*/, Calls& calls) { calls.add_by_size(vertex); });
  return total;
}

void tell(plan::Description& description, bool testing, BufferId total) {
  description.host(std::string(testing ? kTestResults : kTrainingResults),
                   program::HostTransfer::Direction::write, 1,
                   [total](Tile /*tile*/, plan::HostPieces& pieces) {
                     pieces.push_back({{total}, kResultBytes});
                   });
}

kernels::EvenSplit samples_by_tile(const Statement& statement, std::uint32_t samples) {
  return {samples, std::min(samples, statement.machine().tiles)};
}

namespace {

/// Writes the label of each of some samples.
template <class Label>
void fill_labels(kernels::Interval samples, std::span<std::byte> into, const Label& label) {
  for (std::uint64_t i = 0; i < samples.size(); ++i) {
    const std::uint32_t value = label(word(samples.begin + i));
    std::memcpy(into.data() + i * sizeof value, &value, sizeof value);
  }
}

/// The samples of a tile; none on most.
kernels::Interval samples_on(const kernels::EvenSplit& split, Tile tile) {
  return tile < split.parts ? split.part(tile) : kernels::Interval{0, 0};
}

}  // namespace

std::function<std::uint64_t(Tile)> label_bytes(const Statement& statement, std::uint32_t samples) {
  return [split = samples_by_tile(statement, samples)](Tile tile) {
    return samples_on(split, tile).size() * kElementBytes;
  };
}

BufferId labels(Statement& statement, std::uint32_t samples,
                const std::function<std::uint32_t(std::uint32_t)>& fill) {
  const kernels::EvenSplit split = samples_by_tile(statement, samples);
  Statement::Contents contents;
  if (fill)
    contents = [fill, split](Tile tile, std::span<std::byte> into) {
      fill_labels(split.part(tile), into, fill);
    };
  return statement.array("labels", label_bytes(statement, samples), std::move(contents));
}

std::function<void(Tile, plan::HostPieces&)> fed_labels(const Statement& statement, BufferId labels,
                                                        std::uint32_t samples,
                                                        const LabelFeed& feed) {
  return [split = samples_by_tile(statement, samples), labels, feed](Tile tile,
                                                                     plan::HostPieces& pieces) {
    const kernels::Interval mine = samples_on(split, tile);
    if (mine.size() == 0) return;
    pieces.push_back({{labels},
                      word(mine.size() * kElementBytes),
                      [feed, mine](std::span<std::byte> into, std::uint64_t number) {
                        fill_labels(mine, into,
                                    [&](std::uint32_t sample) { return feed(number, sample); });
                      }});
  };
}

namespace {

/// Rows of a batch on tiles. Those of padding stand on the last tile that has samples.
struct BatchRows {
  kernels::EvenSplit split;
  std::uint64_t padded, row_bytes;

  [[nodiscard]] kernels::Interval samples(Tile tile) const { return samples_on(split, tile); }
  /// With those of padding.
  [[nodiscard]] kernels::Interval rows(Tile tile) const {
    const kernels::Interval mine = samples(tile);
    return {mine.begin, tile + 1 == split.parts ? padded : mine.end};
  }
};

/// Tiles that hold rows of `gradient` take them from the samples' tiles.
void pull_gradients(const BatchRows& batch, const MatrixArray& gradient, BufferId from, Tile tile,
                    Pulls& pulls) {
  const std::uint64_t first = gradient.stored.begin(tile);
  const std::uint64_t end = first + gradient.stored.bytes_on(tile);
  for (std::uint64_t at = first, next = 0; at < end; at = next) {
    const std::uint64_t row = std::min(at / batch.row_bytes, batch.split.total - 1);
    const Tile holder = word(batch.split.holder(row));
    const kernels::Interval rows = batch.rows(holder);
    next = std::min(rows.end * batch.row_bytes, end);
    pulls.push_back({{gradient.array, word(at - first)},
                     holder,
                     {from, word(at - rows.begin * batch.row_bytes)},
                     word(next - at)});
  }
}

}  // namespace

/// Each tile takes the logits of its samples, and gives back gradients and losses; tile 0 adds
/// losses up in the order of the samples.
BufferId cross_entropy(Statement& statement, const MatrixArray& logits, const LossOf& loss,
                       BufferId labels, const MatrixArray* gradient,
                       std::optional<BufferId> scale) {
  const BatchRows batch{samples_by_tile(statement, logits.rows), logits.padded_rows,
                        logits.row_bytes()};
  const auto of_samples = [&](std::string_view name, std::uint64_t each) {
    return statement.array(name,
                           [batch, each](Tile tile) { return batch.samples(tile).size() * each; });
  };
  statement.stand_for_others({batch.split.parts - 1});
  const BufferId all = statement.array_on(0, "losses", std::uint64_t{logits.rows} * kResultBytes);
  const BufferId own = of_samples("logits of samples", batch.row_bytes);
  const BufferId gradients = statement.array("gradients of samples", [batch](Tile tile) {
    return batch.rows(tile).size() * batch.row_bytes;
  });
  const BufferId results = of_samples("losses of samples", kResultBytes);
  plan::Description& d = statement.description();
  d.exchange(
      "logits", batch.split.parts,
      [batch, logits, own](Tile tile, Pulls& pulls) {
        const kernels::Interval mine = batch.samples(tile);
        for (const auto& piece : logits.stored.pieces(mine.begin, 0, mine.size() * batch.row_bytes))
          pulls.push_back({{own, piece.at}, piece.tile, {logits.array, piece.offset}, piece.bytes});
      },
      [stored = logits.stored](Tile tile) -> std::uint64_t { return stored.bytes_on(tile); });
  d.compute("loss", batch.split.parts,
            [=, code = statement.typed("training_cross_entropy"), pitch = logits.pitch](
                Tile tile, Calls& calls) {
              program::Vertex call =
                  loss_call(code, loss,
                            {tile, own, gradients, labels, results, batch.samples(tile).size(),
                             batch.rows(tile).size(), pitch});
              if (scale) call.arguments.emplace_back(Place{*scale});
              calls.add_by_size(std::move(call));
            });
  std::optional<MatrixArray> to;
  if (gradient != nullptr) to = *gradient;
  d.exchange(
      "logit gradients", statement.machine().tiles,
      [=](Tile tile, Pulls& pulls) {
        for (Tile from = 0; tile == 0 && from < batch.split.parts; ++from)
          pulls.push_back({{all, word(batch.samples(from).begin * kResultBytes)},
                           from,
                           {results},
                           word(batch.samples(from).size() * kResultBytes)});
        if (to) pull_gradients(batch, *to, gradients, tile, pulls);
      },
      [=](Tile tile) {
        return batch.samples(tile).size() * kResultBytes +
               (to ? batch.rows(tile).size() * batch.row_bytes : 0);
      });
  return add_total(statement, "total loss", all, logits.rows, 1.0 / loss.samples, "totals");
}

}  // namespace tessera::training
