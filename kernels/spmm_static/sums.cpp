#include <algorithm>

#include "kernels/spmm_static/product.h"

// Sums of a product's partial rows.
namespace tessera::spmm_static {

void Product::add_up(BufferId results) {
  if (work_->reduction.direct()) return send_results(results);
  received_ = array("partials received", [](const Work& work, Tile tile) -> std::uint64_t {
    return work.destinations[tile].empty() ? 0
                                           : std::max<std::uint64_t>(work.received_bytes(tile), 8);
  });
  if (work_->reduction.spreads()) sums_ = array("sums", &Work::sum_bytes);
  if (work_->partition.deal.blocks() > 0) send_partials();
  add_sums(results);
  if (work_->reduction.spreads()) send_sums(results);
}

/// Copies partial rows to their places in the results if none are added. Rows without blocks are
/// copied from zeros on each tile: one tile that sent them to all would be a bottleneck.
void Product::send_results(BufferId results) {
  const BufferId zeros =
      statement_.description.array({"zeros",
                                    [work = work_](Tile tile) -> std::uint64_t {
                                      std::uint64_t most = 0;
                                      for (const Destination* to : work->destinations[tile])
                                        most = std::max(most, longest_empty(*to));
                                      return most * work->partition.shape.bytes();
                                    },
                                    false, plan::zeros});
  step(region_ != Region::multiply)
      .exchange(
          name_ + "rows of y", work_->partition.tiles,
          [work = work_, zeros, results, partials = partials_](Tile tile, Pulls& pulls) {
            const Partition& of = work->partition;
            const std::uint32_t size = of.shape.bytes();
            for (const Destination* to : work->destinations[tile]) {
              std::uint64_t at = to->first * size;
              for (const Segment& segment : to->segments) {
                plan::Pull pull{
                    {results, word(at)}, tile, {zeros}, word(segment.elements() * size)};
                if (segment.sources > 0) {
                  const Source& source = work->reduction.sources(segment).front();
                  const Part& part = of.parts[segment.part];
                  pull.from = of.tile(part, source.share);
                  pull.source = {partials,
                                 word(source.row * of.row_bytes(part) + segment.begin * size)};
                }
                pulls.push_back(pull);
                at += pull.bytes;
              }
            }
          },
          [work = work_](Tile tile) { return work->partial_bytes(tile); });
}

/// Sends partial rows to the tiles that sum them.
void Product::send_partials() {
  step(region_ == Region::all)
      .exchange(
          name_ + "partial rows", work_->partition.tiles,
          [work = work_, partials = partials_, received = received_](Tile tile, Pulls& pulls) {
            const Partition& of = work->partition;
            const std::uint64_t pieces = of.shape.output_runs();
            work->for_destinations(tile, [&](const Destination& to, std::uint64_t before,
                                             std::uint64_t) {
              for (const Segment& segment : to.segments) {
                const Part& part = of.parts[segment.part];
                const std::uint64_t bytes = segment.elements() * of.shape.partial_bytes() / pieces;
                const std::uint64_t begin = segment.begin * of.shape.partial_bytes() / pieces;
                const std::uint64_t row = of.row_bytes(part);
                std::uint64_t at = before + segment.received;
                for (const Source& source : work->reduction.sources(segment))
                  for (std::uint64_t piece = 0; piece < pieces; ++piece, at += bytes)
                    pulls.push_back(
                        {{received, word(at)},
                         of.tile(part, source.share),
                         {partials, word(source.row * row + piece * row / pieces + begin)},
                         word(bytes)});
              }
            });
          },
          [work = work_](Tile tile) { return work->partial_bytes(tile); });
}

/// Sums the partials that tiles received, or writes zeros where there are none: into `results` at
/// home, else into `sums_`.
void Product::add_sums(BufferId results) {
  const Codelet code = adding_codelet(statement_, work_->partition.shape);
  const auto workers = [work = work_, code](const Destination& to) {
    return work->reduction.workers(to, code.contexts);
  };
  const auto entries = [work = work_, workers](Tile tile) {
    std::vector<SegmentPart> list;
    for (const Destination* to : work->destinations[tile])
      std::ranges::copy(segment_list(workers(*to)), std::back_inserter(list));
    return list;
  };
  if (!segments_)
    segments_ = statement_.list(
        "segments", [entries](Tile tile) { return entries(tile).size(); }, entries);
  step(region_ != Region::multiply)
      .compute(name_ + "add partial rows", work_->partition.tiles,
               [work = work_, workers, code, results, received = received_, segments = *segments_,
                sums = sums_](Tile tile, Calls& calls) {
                 std::uint64_t listed = 0;
                 work->for_destinations(tile, [&](const Destination& to, std::uint64_t before,
                                                  std::uint64_t made) {
                   const auto all = workers(to);
                   const std::uint64_t first = to.first * work->partition.shape.bytes();
                   calls.add(adding(code, {received, word(before)},
                                    to.home ? Place{results, word(first)} : Place{sums, word(made)},
                                    {segments, word(listed)}, all));
                   for (const ReducingWorker& each : all)
                     listed += each.parts.size() * sizeof(SegmentPart);
                 });
               });
}

/// Sends those sums to their places in the results.
void Product::send_sums(BufferId results) {
  step(region_ != Region::multiply)
      .exchange(
          name_ + "rows of y", work_->partition.tiles,
          [work = work_, sums = sums_, results](Tile tile, Pulls& pulls) {
            for (const Work::Sent& piece : work->sent[tile])
              pulls.push_back({{results, word(piece.into)},
                               piece.from,
                               {sums, word(piece.source)},
                               word(piece.bytes)});
          },
          [work = work_](Tile tile) { return work->sum_bytes(tile); });
}

}  // namespace tessera::spmm_static
