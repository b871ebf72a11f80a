#include "kernels/training/loss.h"

#include <algorithm>
#include <cstring>

#include "kernels/training/results.h"

namespace tessera::training {

namespace {

program::Vertex totals_call(Statement& statement, BufferId results, BufferId total,
                            std::uint64_t count, double scale) {
  return statement.code("training_totals")
      .one({Place{results}, Place{total}, word(count), bits_of(scale)});
}

/// Distribution of a batch's samples over all tiles, or over one tile per sample if fewer.
EvenSplit samples_by_tile(const Statement& statement, std::uint32_t samples) {
  return {samples, std::min(samples, statement.machine().tiles)};
}

/// The samples of a tile; may be none.
Interval samples_on(const EvenSplit& split, Tile tile) {
  return tile < split.parts ? split.part(tile) : Interval{0, 0};
}

/// Rows of a batch on tiles. Padding rows are on the last tile that has samples.
struct BatchRows {
  EvenSplit split;
  std::uint64_t padded, row_bytes;

  [[nodiscard]] Interval samples(Tile tile) const { return samples_on(split, tile); }
  /// Samples and padding rows.
  [[nodiscard]] Interval rows(Tile tile) const {
    const Interval mine = samples(tile);
    return {mine.begin, tile + 1 == split.parts ? padded : mine.end};
  }
};

/// Tiles that hold rows of `gradient` pull them from the samples' tiles.
void pull_gradients(const BatchRows& batch, const MatrixArray& gradient, BufferId from, Tile tile,
                    Pulls& pulls) {
  const std::uint64_t first = gradient.stored.begin(tile);
  const std::uint64_t end = first + gradient.stored.bytes_on(tile);
  for (std::uint64_t at = first, next = 0; at < end; at = next) {
    const std::uint64_t row = std::min(at / batch.row_bytes, batch.split.total - 1);
    const Tile holder = word(batch.split.holder(row));
    const Interval rows = batch.rows(holder);
    next = std::min(rows.end * batch.row_bytes, end);
    pulls.push_back({{gradient.array, word(at - first)},
                     holder,
                     {from, word(at - rows.begin * batch.row_bytes)},
                     word(next - at)});
  }
}

}  // namespace

BufferId add_total(Statement& statement, const char* step, BufferId results, std::uint32_t count,
                   double scale, std::string_view name) {
  const BufferId total = statement.array_on_first(1, name, kResultBytes);
  statement.description().compute(step, 1,
                                  [vertex = totals_call(statement, results, total, count, scale)](
                                      Tile /*tile*/, Calls& calls) { calls.add_by_size(vertex); });
  return total;
}

void tell(plan::Description& description, std::string_view name, Place numbers) {
  description.host(std::string(name), program::HostTransfer::Direction::write, 1,
                   [numbers](Tile /*tile*/, plan::HostPieces& pieces) {
                     pieces.push_back({numbers, kResultBytes});
                   });
}

Batch label_batch(const Statement& statement, std::uint32_t samples, const LabelOf& label) {
  const EvenSplit split = samples_by_tile(statement, samples);
  return {[split](Tile tile) { return samples_on(split, tile).size() * kElementBytes; },
          [split, label](Tile tile, std::span<std::byte> into, std::uint64_t number) {
            const Interval mine = samples_on(split, tile);
            for (std::uint64_t i = 0; i < mine.size(); ++i) {
              const std::uint32_t value = label(number, word(mine.begin + i));
              std::memcpy(into.data() + i * sizeof value, &value, sizeof value);
            }
          }};
}

/// Each tile pulls the logits of its samples; others pull its gradients and its sum of losses.
BufferId cross_entropy(Statement& statement, const MatrixArray& logits, const LossOf& loss,
                       BufferId labels, const MatrixArray* gradient,
                       std::optional<BufferId> scale) {
  const BatchRows batch{samples_by_tile(statement, logits.rows), logits.padded_rows,
                        logits.row_bytes()};
  const Groups groups = Groups::of_first(batch.split.parts);
  const std::vector<Tile> leads = groups.leads();
  const auto of_samples = [&](std::string_view name, std::uint64_t each) {
    return statement.array(name,
                           [batch, each](Tile tile) { return batch.samples(tile).size() * each; });
  };
  statement.stand_for_others({batch.split.parts - 1});
  const BufferId own = of_samples("logits of samples", batch.row_bytes);
  const BufferId gradients = statement.array("gradients of samples", [batch](Tile tile) {
    return batch.rows(tile).size() * batch.row_bytes;
  });
  const BufferId results = of_samples("losses of samples", kResultBytes);
  const bool several = logits.rows > batch.split.parts;
  const BufferId sums =
      several ? statement.array_on_first(batch.split.parts, "losses of tiles", kResultBytes)
              : results;
  const BufferId gathered = statement.array("losses of a group", [groups](Tile tile) {
    return groups.members(tile).size() * kResultBytes;
  });
  const BufferId of_group = statement.array("loss of a group", [groups](Tile tile) {
    return groups.members(tile).empty() ? 0 : kResultBytes;
  });
  plan::Description& d = statement.description();
  d.exchange(
      "logits", batch.split.parts,
      [batch, logits, own](Tile tile, Pulls& pulls) {
        const Interval mine = batch.samples(tile);
        kernels::pull(pulls, {own}, logits.array,
                      logits.stored.pieces(mine.begin, 0, mine.size() * batch.row_bytes));
      },
      logits.bytes());
  const auto adding = [&statement](BufferId from, BufferId to) {
    return [vertex = totals_call(statement, from, to, 0, 1)](std::uint64_t count, Calls& calls) {
      program::Vertex call = vertex;
      call.arguments[2] = word(count);
      calls.add_by_size(std::move(call));
    };
  };
  d.compute("loss", batch.split.parts,
            [=, code = statement.typed("training_cross_entropy"), pitch = logits.pitch,
             add = adding(results, sums)](Tile tile, Calls& calls) {
              const std::uint64_t samples = batch.samples(tile).size();
              Arguments arguments{Place{own},
                                  Place{gradients},
                                  Place{labels},
                                  Place{results},
                                  word(samples),
                                  loss.classes,
                                  pitch,
                                  bits_of(1.0 / loss.samples),
                                  word(batch.rows(tile).size())};
              if (scale) arguments.emplace_back(Place{*scale});
              calls.add_by_size(code.all(std::move(arguments)));
              if (several) add(samples, calls);
            });
  std::optional<MatrixArray> to;
  if (gradient != nullptr) to = *gradient;
  d.exchange(
      "logit gradients", statement.machine().tiles,
      [=](Tile tile, Pulls& pulls) {
        pull_each(pulls, gathered, groups.members(tile), sums, kResultBytes);
        if (to) pull_gradients(batch, *to, gradients, tile, pulls);
      },
      [=](Tile tile) {
        return (tile < batch.split.parts ? kResultBytes : 0) +
               (to ? batch.rows(tile).size() * batch.row_bytes : 0);
      });
  d.compute("loss of groups", batch.split.parts,
            [groups, add = adding(gathered, of_group)](Tile tile, Calls& calls) {
              if (const auto members = groups.members(tile); !members.empty())
                add(members.size(), calls);
            });
  const BufferId all = statement.array_on_first(1, "losses", leads.size() * kResultBytes);
  d.exchange(
      "losses", 1,
      [leads, all, of_group](Tile /*tile*/, Pulls& pulls) {
        pull_each(pulls, all, leads, of_group, kResultBytes);
      },
      [groups](Tile tile) -> std::uint64_t {
        return groups.members(tile).empty() ? 0 : kResultBytes;
      });
  return add_total(statement, "total loss", all, word(leads.size()), 1.0 / loss.samples, "totals");
}

float total_loss(std::span<const float> losses, std::uint32_t tiles) {
  const EvenSplit split{losses.size(), std::min<std::uint32_t>(word(losses.size()), tiles)};
  const Groups groups = Groups::of_first(split.parts);
  float total = 0;
  for (const Tile lead : groups.leads()) {
    float of_group = 0;
    for (const Tile tile : groups.members(lead)) {
      const Interval samples = split.part(tile);
      float own = 0;
      for (std::uint64_t s = samples.begin; s < samples.end; ++s) own += losses[s];
      of_group += own;
    }
    total += of_group;
  }
  return total;
}

}  // namespace tessera::training
