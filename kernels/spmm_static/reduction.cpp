#include "kernels/spmm_static/reduction.h"

#include <algorithm>

namespace tessera::spmm_static {

Reduction::Reduction(const Partition& partition) : partition_(partition) {
  find_sources();
  direct_ = partition.deal.blocks() > 0 && !partition.shape.mixed() && meet_nowhere();
  find_segments();
}

bool Reduction::meet_nowhere() const {
  for (const auto& rows : sources_) {
    for (const std::vector<Source>& row : rows) {
      if (row.size() > 1) return false;
    }
  }
  return true;
}

void Reduction::find_sources() {
  for (const Layer& layer : partition_.layers) {
    auto& rows = sources_.emplace_back(partition_.block_rows);
    for (std::uint32_t s = 0; s < layer.shares.size(); ++s) {
      const Share& share = layer.shares[s];
      for (std::uint32_t r = 0; r < share.rows.size(); ++r) {
        rows[share.rows[r].row].push_back({s, r});
      }
    }
  }
}

void Reduction::find_segments() {
  destinations_.resize(partition_.tiles);
  const std::uint64_t stored = partition_.y_stored();
  const std::uint64_t block = partition_.shape.block;
  std::uint64_t at = 0;  // element of Y
  for (std::uint32_t row = 0; row < partition_.block_rows; ++row) {
    for (std::uint32_t p = 0; p < partition_.parts.size(); ++p) {
      const Part& part = partition_.parts[p];
      const auto sources = static_cast<std::uint32_t>(sources_[part.layer][row].size());
      const std::uint64_t elements = part.width() * block;
      for (std::uint64_t begin = 0; begin < elements;) {
        Destination& to = destinations_[at / stored];
        const std::uint64_t end = std::min(elements, begin + stored - at % stored);
        to.segments.push_back({p, row, begin, end, sources, to.received});
        if (!direct_) to.received += (end - begin) * partition_.shape.partial_bytes() * sources;
        to.elements += end - begin;
        at += end - begin;
        begin = end;
      }
    }
  }
}

std::vector<ReducingWorker> Reduction::workers(const Destination& destination,
                                               std::uint32_t count) const {
  const Shape& shape = partition_.shape;
  const std::uint64_t word = 8 / shape.bytes();  // elements of Y a word
  const bool halves = shape.halves() == Halves::outputs;
  // Words of Y of one chunk (two, with halves), which workers do not share if they can help it.
  const std::uint64_t chunk = halves ? 4 : shape.mixed() ? 2 : 4;
  const std::uint64_t words = destination.elements / word;
  const std::uint64_t each = round_up(ceil_div<std::uint64_t>(words, count), chunk);
  std::vector<ReducingWorker> workers(count);
  for (std::uint32_t w = 0; w < count; ++w) workers[w].first_word = std::min(w * each, words);
  std::uint64_t at = 0;  // word of results
  for (const Segment& segment : destination.segments) {
    const std::uint64_t end = at + segment.elements() / word;
    const std::uint64_t first = at;
    while (at < end) {
      const std::uint64_t w = at / each;
      const std::uint64_t last = std::min(end, (w + 1) * each);
      const std::uint64_t bytes = segment.elements() * shape.partial_bytes();
      const std::uint64_t skipped = (at - first) * word * shape.partial_bytes();
      const std::uint64_t whole = (last - at) / chunk;
      workers[w].parts.push_back({segment.received + (halves ? skipped / 2 : skipped), bytes,
                                  segment.sources, static_cast<std::uint32_t>(whole),
                                  static_cast<std::uint32_t>(last - at - whole * chunk),
                                  halves ? bytes / 2 : 0});
      at = last;
    }
  }
  return workers;
}

}  // namespace tessera::spmm_static
