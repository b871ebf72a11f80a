#include <algorithm>
#include <vector>

#include "kernels/spmm_static/work.h"

namespace tessera::spmm_static {

namespace {

/// About the most elements of a segment without sources; tiles keep that many zeros to copy.
constexpr std::uint64_t kLongestEmpty = 512;

SegmentPart part_of(std::uint64_t offset, std::uint64_t distance, std::uint64_t sources,
                    std::uint64_t chunks, std::uint64_t units, std::uint64_t next_run) {
  const auto half = [](std::uint64_t value) { return static_cast<std::uint16_t>(value); };
  return {word(offset), word(distance), half(sources), half(chunks), half(units), half(next_run)};
}

/// Divides the results of a destination over workers; those of a block lie in `runs` runs.
std::vector<ReducingWorker> divided(const Shape& shape, std::uint64_t runs,
                                    const Destination& destination, std::uint32_t count) {
  const std::uint64_t lanes = 8 / shape.bytes();  // elements of Y per word
  // Words of Y per chunk, which workers share only if they must; with several runs, words of a
  // block's column.
  const std::uint64_t chunk = runs > 1 ? shape.block / lanes : shape.mixed() ? 2 : 4;
  const std::uint64_t words = destination.elements / lanes;
  const std::uint64_t each = round_up(ceil_div<std::uint64_t>(words, count), chunk);
  std::vector<ReducingWorker> workers(count);
  for (std::uint32_t w = 0; w < count; ++w) workers[w].first_word = std::min(w * each, words);
  std::uint64_t at = 0;  // word of results
  for (const Segment& segment : destination.segments) {
    const std::uint64_t end = at + segment.elements() / lanes;
    const std::uint64_t first = at;
    while (at < end) {
      const std::uint64_t w = at / each;
      const std::uint64_t last = std::min(end, (w + 1) * each);
      const std::uint64_t bytes = segment.elements() * shape.partial_bytes();
      const std::uint64_t skipped = (at - first) * lanes * shape.partial_bytes();
      const std::uint64_t whole = (last - at) / chunk;
      workers[w].parts.push_back(part_of(segment.received + skipped / runs, bytes, segment.sources,
                                         whole, last - at - whole * chunk,
                                         runs > 1 ? bytes / runs / 8 : 0));
      at = last;
    }
  }
  return workers;
}

}  // namespace

std::uint64_t longest_empty(const Destination& destination) {
  std::uint64_t most = 0;
  for (const Segment& segment : destination.segments) {
    if (segment.sources == 0) most = std::max(most, segment.elements());
  }
  return most;
}

std::vector<ReducingWorker> even_workers(const Shape& shape, std::uint64_t elements,
                                         std::uint64_t sources, std::uint32_t count) {
  return divided(shape, 1, {0, true, 0, {{0, 0, 0, elements, word(sources), 0}}, 0, elements},
                 count);
}

std::vector<ReducingWorker> Reduction::workers(const Destination& destination,
                                               std::uint32_t count) const {
  return divided(partition_.shape, partition_.shape.output_runs(), destination, count);
}

Reduction::Reduction(const Partition& partition)
    : partition_(partition), stored_(partition.y_storage().each() / partition.shape.bytes()) {
  find_sources();
  direct_ = partition.deal.blocks() > 0 && !partition.shape.mixed() &&
            partition.shape.output_runs() == 1 && meet_nowhere();
  find_segments();
}

bool Reduction::meet_nowhere() const {
  for (const auto& rows : sources_)
    for (const std::vector<Source>& row : rows)
      if (row.size() > 1) return false;
  return true;
}

void Reduction::find_sources() {
  for (const Layer& layer : partition_.layers) {
    auto& rows = sources_.emplace_back(partition_.deal.filled.size());
    for (std::uint32_t s = 0; s < layer.shares.size(); ++s) {
      const Share& share = layer.shares[s];
      for (std::uint32_t r = 0; r < share.rows.size(); ++r) {
        rows[filled(share.rows[r].row)].push_back({s, r});
      }
    }
  }
}

std::size_t Reduction::filled(std::uint32_t row) const {
  const std::vector<std::uint32_t>& rows = partition_.deal.filled;
  return static_cast<std::size_t>(std::ranges::lower_bound(rows, row) - rows.begin());
}

std::uint64_t Reduction::place(const Segment& segment) const {
  const std::uint64_t block = partition_.shape.block;
  return segment.row * block * partition_.columns + partition_.parts[segment.part].begin * block +
         segment.begin;
}

/// Adds these rows, which have no blocks, in few segments.
void Reduction::add_empty(std::uint32_t first, std::uint32_t end) {
  const std::uint64_t row = std::uint64_t{partition_.shape.block} * partition_.columns;
  const std::uint64_t together = std::max<std::uint64_t>(kLongestEmpty / row, 1);
  for (std::uint64_t at = first; at < end; at += together) {
    const Segment rows{0, static_cast<std::uint32_t>(at), 0, std::min(together, end - at) * row, 0,
                       0};
    add_at_home(rows, place(rows));
  }
}

void Reduction::find_segments() {
  std::uint64_t number = 0;
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < partition_.deal.filled.size(); ++i) {
    const std::uint32_t row = partition_.deal.filled[i];
    add_empty(next, row);
    next = row + 1;
    for (std::uint32_t p = 0; p < partition_.parts.size(); ++p, ++number) {
      const Part& part = partition_.parts[p];
      const std::uint32_t sources = word(sources_[part.layer][i].size());
      const Segment whole{p,       row, 0, std::uint64_t{part.width()} * partition_.shape.block,
                          sources, 0};
      if (at_home(whole, place(whole)))
        add_at_home(whole, place(whole));
      else
        add_spread(whole, number);
    }
  }
  add_empty(next, partition_.block_rows);
  for (std::uint32_t tile = 0; tile < spread_.size(); ++tile) {
    if (spread_[tile].empty()) continue;
    destinations_.push_back({tile, false, 0});
    for (const Segment& segment : spread_[tile]) append(destinations_.back(), segment);
  }
}

bool Reduction::at_home(const Segment& whole, std::uint64_t at) const {
  if (!partition_.placement || whole.sources < 2) return true;
  const std::uint64_t first = std::min(whole.elements(), stored_ - at % stored_);
  const std::uint64_t most = std::max(first, std::min(whole.elements() - first, stored_));
  return partition_.placement->at_home(partition_.shape, {whole.elements(), whole.sources, most});
}

void Reduction::append(Destination& to, Segment segment) const {
  segment.received = to.received;
  if (!direct_) {
    to.received += segment.elements() * partition_.shape.partial_bytes() * segment.sources;
  }
  to.elements += segment.elements();
  to.segments.push_back(segment);
}

void Reduction::add_at_home(Segment segment, std::uint64_t at) {
  for (const std::uint64_t end = segment.end; segment.begin < end; segment.begin = segment.end) {
    segment.end = std::min(end, segment.begin + stored_ - at % stored_);
    const auto tile = static_cast<std::uint32_t>(at / stored_);
    const bool follows = !destinations_.empty() && destinations_.back().home &&
                         destinations_.back().tile == tile &&
                         destinations_.back().first + destinations_.back().elements == at % stored_;
    if (!follows) destinations_.push_back({tile, true, at % stored_});
    append(destinations_.back(), segment);
    at += segment.elements();
  }
}

void Reduction::add_spread(const Segment& whole, std::uint64_t number) {
  spreads_ = true;
  if (spread_.empty()) spread_.resize(partition_.tiles);
  for (const published::ReductionPlacement::Piece& piece :
       partition_.placement->spread(partition_.shape, whole.elements(), number)) {
    Segment segment = whole;
    segment.begin = piece.begin;
    segment.end = piece.end;
    spread_[piece.tile].push_back(segment);
  }
}

}  // namespace tessera::spmm_static
