#include "kernels/mlp/feature_rows.h"

namespace tessera::mlp {

using kernels::Interval;

std::uint64_t FeatureRows::row_bytes(std::uint32_t each) const {
  return round_up(std::uint64_t{geometry.rows()} * each, gemm::kPair);
}

Share FeatureRows::twiddles() const {
  return {layout.pair_bytes(), applied_bytes(),
          [layout = layout, tiles = geometry.tiles()](Tile tile) -> Interval {
            return tile < tiles ? layout.share(tile) : Interval{0, 0};
          }};
}

Share FeatureRows::by_rows(std::uint32_t from, std::uint32_t to) const {
  return {from, to,
          [split = kernels::EvenSplit{row_bytes(from) / gemm::kPair, parts()},
           geometry = geometry](Tile tile) -> Interval {
            if (tile >= geometry.tiles()) return {0, 0};
            const Interval pairs = split.part(tile / geometry.plan.split_features);
            return {pairs.begin * gemm::kPair, pairs.end * gemm::kPair};
          }};
}

std::vector<std::uint64_t> FeatureRows::twiddle_numbers(std::uint32_t stack, Tile tile) const {
  const butterfly::Problem& problem = geometry.problem;
  const std::uint64_t each = problem.twiddle_parameters();
  std::vector<std::uint64_t> all;
  if (tile >= geometry.tiles()) return all;
  layout.for_pairs(tile, [&](std::uint32_t stage, std::uint32_t pair) {
    const std::uint64_t factor = std::uint64_t{stack} * problem.stages() + stage;
    for (std::uint64_t i = 0; i < each; ++i)
      all.push_back((factor * problem.pairs() + pair) * each + i);
  });
  return all;
}

training::GivenLines FeatureRows::given(const Arrays& arrays, const butterfly::Rows& rows,
                                        std::uint64_t limit, std::uint64_t row_bytes) const {
  const std::uint64_t unit = unit_bytes();
  const std::uint64_t end_of_row = std::min(row_bytes, geometry.round_units().end * unit);
  return {[arrays, rows, geometry = geometry, limit, end_of_row, unit](
              std::uint64_t row, std::uint64_t begin, std::uint64_t end) {
            std::vector<training::GivenLines::Piece> pieces;
            if (row >= limit) return pieces;
            const std::uint64_t n = geometry.problem.features;
            const butterfly::Rows::Holder place = rows.holder(word(row % n));
            for (std::uint32_t p = 0; p < geometry.plan.split_n; ++p) {
              const Tile tile = p * geometry.plan.split_features + place.tile;
              const Interval units = geometry.units(tile);
              const std::uint64_t first = std::max(begin, units.begin * unit);
              const std::uint64_t last = std::min({end, units.end * unit, end_of_row});
              if (first >= last) continue;
              const std::uint64_t at = place.row * units.size() * unit + first - units.begin * unit;
              pieces.push_back(
                  {tile, {arrays[row / n], word(at)}, word(first - begin), word(last - first)});
            }
            return pieces;
          },
          [rows, geometry = geometry, stacks = arrays.size(), limit, end_of_row,
           unit](Tile tile) -> std::uint64_t {
            if (tile >= geometry.tiles()) return 0;
            const Interval units = geometry.units(tile);
            const std::uint64_t end = std::min(units.end * unit, end_of_row);
            std::uint64_t lines = 0;
            for (std::size_t s = 0; s < stacks; ++s)
              for (std::uint32_t row = 0; row < geometry.rows(); ++row)
                lines +=
                    s * geometry.problem.features + rows.feature(geometry.feature_part(tile), row) <
                            limit
                        ? 1
                        : 0;
            return lines * (end - std::min(end, units.begin * unit));
          },
          limit, end_of_row};
}

training::WantedLines FeatureRows::wanted(const Arrays& arrays, const butterfly::Rows& rows,
                                          bool stacked) const {
  const std::uint64_t unit = unit_bytes();
  return {[arrays, rows, stacked, geometry = geometry, unit](Tile tile) {
            std::vector<training::WantedLines::Piece> pieces;
            if (tile >= geometry.tiles()) return pieces;
            const Interval units = geometry.units(tile);
            for (std::size_t s = 0; s < arrays.size(); ++s)
              for (std::uint32_t row = 0; row < geometry.rows() && units.size() > 0; ++row) {
                const std::uint64_t feature = rows.feature(geometry.feature_part(tile), row);
                pieces.push_back({(stacked ? s * geometry.problem.features : 0) + feature,
                                  units.begin * unit,
                                  {arrays[s], word(row * units.size() * unit)},
                                  word(units.size() * unit)});
              }
            return pieces;
          },
          (stacked ? arrays.size() : 1) * geometry.problem.features,
          geometry.round_units().end * unit};
}

}  // namespace tessera::mlp
