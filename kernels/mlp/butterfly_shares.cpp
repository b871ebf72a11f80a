#include "kernels/mlp/butterfly_shares.h"

namespace tessera::mlp {

using kernels::Interval;
using training::kElementBytes;

std::uint64_t ButterflyShares::bias_bytes() const {
  return round_up(std::uint64_t{geometry.rows()} * kElementBytes, gemm::Vertices::kPair);
}

Interval ButterflyShares::of_sums(bool bias, Tile tile) const {
  if (tile >= geometry.tiles()) return {0, 0};
  if (!bias) return layout.share(tile);
  const Interval pairs = kernels::EvenSplit{bias_bytes() / gemm::Vertices::kPair, parts()}.part(
      tile / geometry.plan.split_features);
  return {pairs.begin * gemm::Vertices::kPair, pairs.end * gemm::Vertices::kPair};
}

Interval ButterflyShares::applied(bool bias, Tile tile) const {
  const Interval sums = of_sums(bias, tile);
  const std::uint64_t from = bias ? kElementBytes : layout.pair_bytes();
  const std::uint64_t to = bias ? element_bytes : applied_bytes();
  return {sums.begin / from * to, sums.end / from * to};
}

std::uint64_t ButterflyShares::count(bool bias, Tile tile) const {
  return bias ? of_sums(true, tile).size() / kElementBytes
              : pairs(tile) * geometry.problem.twiddle_parameters();
}

std::vector<std::uint64_t> ButterflyShares::numbers(const Linear& linear, std::uint32_t stack,
                                                    bool bias, Tile tile) const {
  const butterfly::Problem& problem = geometry.problem;
  std::vector<std::uint64_t> all;
  if (!bias) {
    const std::uint64_t each = problem.twiddle_parameters();
    layout.for_pairs(tile, [&](std::uint32_t stage, std::uint32_t pair) {
      const std::uint64_t factor = std::uint64_t{stack} * problem.stages() + stage;
      for (std::uint64_t i = 0; i < each; ++i)
        all.push_back((factor * problem.pairs() + pair) * each + i);
    });
    return all;
  }
  const Interval share = of_sums(true, tile);
  const butterfly::Rows& rows = layout.passes().back().rows;
  for (std::uint64_t row = share.begin / kElementBytes; row < share.end / kElementBytes; ++row) {
    const std::uint64_t feature = row < geometry.rows()
                                      ? std::uint64_t{stack} * problem.features +
                                            rows.feature(geometry.feature_part(tile), word(row))
                                      : linear.outputs;
    all.push_back(feature < linear.outputs ? linear.parameters() - linear.outputs + feature
                                           : training::kNoNumber);
  }
  return all;
}

training::GivenLines ButterflyShares::given(const Arrays& arrays, const butterfly::Rows& rows,
                                            std::uint64_t limit, std::uint64_t row_bytes) const {
  const std::uint64_t end_of_row = std::min(row_bytes, geometry.round_units().end * 8);
  return {[arrays, rows, geometry = geometry, limit, end_of_row](
              std::uint64_t row, std::uint64_t begin, std::uint64_t end) {
            std::vector<training::GivenLines::Piece> pieces;
            if (row >= limit) return pieces;
            const std::uint64_t n = geometry.problem.features;
            const butterfly::Rows::Holder place = rows.holder(word(row % n));
            for (std::uint32_t p = 0; p < geometry.plan.split_n; ++p) {
              const Tile tile = p * geometry.plan.split_features + place.tile;
              const Interval units = geometry.units(tile);
              const std::uint64_t first = std::max(begin, units.begin * 8);
              const std::uint64_t last = std::min({end, units.end * 8, end_of_row});
              if (first >= last) continue;
              const std::uint64_t at = place.row * units.size() * 8 + first - units.begin * 8;
              pieces.push_back(
                  {tile, {arrays[row / n], word(at)}, word(first - begin), word(last - first)});
            }
            return pieces;
          },
          [rows, geometry = geometry, stacks = arrays.size(), limit,
           end_of_row](Tile tile) -> std::uint64_t {
            if (tile >= geometry.tiles()) return 0;
            const Interval units = geometry.units(tile);
            const std::uint64_t end = std::min(units.end * 8, end_of_row);
            std::uint64_t lines = 0;
            for (std::size_t s = 0; s < stacks; ++s)
              for (std::uint32_t row = 0; row < geometry.rows(); ++row)
                lines +=
                    s * geometry.problem.features + rows.feature(geometry.feature_part(tile), row) <
                            limit
                        ? 1
                        : 0;
            return lines * (end - std::min(end, units.begin * 8));
          },
          limit, end_of_row};
}

training::WantedLines ButterflyShares::wanted(const Arrays& arrays, const butterfly::Rows& rows,
                                              bool stacked) const {
  return {[arrays, rows, stacked, geometry = geometry](Tile tile) {
            std::vector<training::WantedLines::Piece> pieces;
            if (tile >= geometry.tiles()) return pieces;
            const Interval units = geometry.units(tile);
            for (std::size_t s = 0; s < arrays.size(); ++s)
              for (std::uint32_t row = 0; row < geometry.rows() && units.size() > 0; ++row) {
                const std::uint64_t feature = rows.feature(geometry.feature_part(tile), row);
                pieces.push_back({(stacked ? s * geometry.problem.features : 0) + feature,
                                  units.begin * 8,
                                  {arrays[s], word(row * units.size() * 8)},
                                  word(units.size() * 8)});
              }
            return pieces;
          },
          (stacked ? arrays.size() : 1) * geometry.problem.features,
          geometry.round_units().end * 8};
}

}  // namespace tessera::mlp
