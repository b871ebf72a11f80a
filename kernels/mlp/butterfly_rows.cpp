#include "kernels/mlp/butterfly_layer.h"

namespace tessera::mlp {

using kernels::Interval;
using program::Place;
using training::Lines;

ButterflyLayer::Buffers ButterflyLayer::row_buffers(std::string_view name) {
  Buffers buffers;
  for (std::uint32_t t = 0; t < geometry_.tiles(); ++t)
    buffers.push_back(assembly_.buffer(t, geometry_.bytes(t), name));
  return buffers;
}

Lines ButterflyLayer::lines(std::vector<Buffers> buffers, const butterfly::Rows& rows, bool stacked,
                            std::uint64_t limit, std::uint64_t bytes) const {
  return {[buffers = std::move(buffers), rows, stacked, limit, bytes, geometry = geometry_](
              std::uint64_t row, std::uint64_t begin, std::uint64_t end) {
    Lines::Pieces pieces;
    if (row >= limit) return pieces;
    const std::uint64_t n = geometry.problem.features;
    const butterfly::Rows::Holder place = rows.holder(word(row % n));
    for (std::size_t s = stacked ? row / n : 0; s < (stacked ? row / n + 1 : buffers.size()); ++s)
      for (std::uint32_t p = 0; p < geometry.plan.split_n; ++p) {
        const std::uint32_t tile = p * geometry.plan.split_features + place.tile;
        const Interval units = geometry.units(tile);
        const std::uint64_t first = std::max(begin, units.begin * 8);
        const std::uint64_t last = std::min({end, units.end * 8, bytes});
        if (first >= last) continue;
        const std::uint64_t offset = place.row * units.size() * 8 + first - units.begin * 8;
        pieces.push_back(
            {{buffers[s][tile], word(offset)}, word(first - begin), word(last - first)});
      }
    return pieces;
  }};
}

Lines ButterflyLayer::inputs(std::vector<Buffers> buffers, std::uint64_t limit) const {
  return lines(std::move(buffers), layout_.passes().front().rows, false,
               std::min<std::uint64_t>(limit, features()), ~std::uint64_t{0});
}

Lines ButterflyLayer::outputs(std::vector<Buffers> buffers, std::uint64_t limit,
                              std::uint64_t bytes) const {
  return lines(std::move(buffers), layout_.passes().back().rows, true, limit, bytes);
}

void ButterflyLayer::bring(const Matrix& from, const Lines& to, const std::vector<Buffers>& into,
                           std::uint64_t rows) {
  Buffers cleared;
  for (const Buffers& buffers : into)
    if (from.pitch < rows) cleared.insert(cleared.end(), buffers.begin(), buffers.end());
  assembly_.transpose(training::lines_of(from), to, {from.padded_rows, from.pitch, grain()},
                      cleared);
}

void ButterflyLayer::take(const Lines& from, const Matrix& to) {
  assembly_.transpose(from, training::lines_of(to), {to.pitch, to.padded_rows, grain()});
}

program::Vertex ButterflyLayer::row_numbers(const std::string& name, std::uint32_t tile,
                                            BufferId rows, BufferId numbers) {
  return assembly_.all(
      tile, name,
      {Place{rows}, Place{numbers}, word(geometry_.units(tile).size()), geometry_.rows()});
}

void ButterflyLayer::swap(const butterfly::Swap& swap, const std::vector<Buffers>& stacks) {
  program::Exchange exchange{"swap", {}};
  const std::uint32_t ways = 1U << swap.bits;
  for (const Buffers& buffers : stacks) {
    for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
      const std::uint32_t block = word(geometry_.bytes(t) >> swap.bits);
      const std::uint32_t own = t >> swap.tile_place & (ways - 1);
      for (std::uint32_t way = 0; way < ways; ++way) {
        if (way == own) continue;
        const std::uint32_t to = t ^ (own ^ way) << swap.tile_place;
        exchange.copies.push_back({{buffers[t], way * block}, block, {{buffers[to], own * block}}});
      }
    }
  }
  assembly_.add_step(std::move(exchange));
}

}  // namespace tessera::mlp
