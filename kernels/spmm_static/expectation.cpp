#include "kernels/spmm_static/expectation.h"

#include <cmath>
#include <set>

namespace tessera::spmm_static {

namespace {

constexpr std::uint32_t kMostBands = 128;

/// Mean plus one standard deviation of a binomial distribution, at most `number`.
std::uint64_t likely(double probability, std::uint64_t number) {
  const auto n = static_cast<double>(number);
  const double deviation = std::ceil(std::sqrt(probability * (1 - probability) * n));
  return std::min(static_cast<std::uint64_t>(std::ceil(probability * n + deviation)), number);
}

/// Probability that at least one of `number` blocks is there.
double any_of(double density, std::uint64_t number) {
  return 1 - std::pow(1 - density, static_cast<double>(number));
}

/// Expected work of a tile of the band with most blocks per tile; partial rows come from up to
/// `meeting` bands.
TileWork fullest_tile(const Problem& problem, const Bands& bands,
                      const std::vector<std::uint32_t>& tiles, std::uint32_t meeting,
                      std::uint32_t width) {
  std::size_t most = 0;
  for (std::size_t band = 1; band < tiles.size(); ++band) {
    if (bands.blocks[band] * tiles[most] > bands.blocks[most] * tiles[band]) most = band;
  }
  const double density =
      std::min(static_cast<double>(problem.blocks) /
                   (static_cast<double>(problem.block_rows) * problem.block_columns),
               1.0);
  TileWork work{problem.shape, width, 0, 0, 0, 0, 0, 0, 0};
  work.blocks = ceil_div(bands.blocks[most], std::uint64_t{tiles[most]});
  work.band = bands.column[most + 1] - bands.column[most];
  const std::uint64_t rows = ceil_div(problem.block_rows, tiles[most]);
  work.span = work.band;
  if (rows == 1) {
    const double needed = static_cast<double>(bands.blocks[most]) / density;
    work.span = std::min(static_cast<std::uint64_t>(std::ceil(needed)),
                         std::uint64_t{problem.block_columns});
  }
  const double row = any_of(density, work.span);
  work.rows = std::max(likely(row, rows), std::uint64_t{1});
  work.columns = std::max(likely(any_of(density, rows), work.span), std::uint64_t{1});
  const auto number = static_cast<double>(meeting);
  const double parts = row * number + std::ceil(std::sqrt(row * (1 - row) * number));
  work.partial_rows = static_cast<std::uint64_t>(
      std::ceil(parts * static_cast<double>(work.band) / static_cast<double>(work.span)));
  work.partial_rows = std::max(work.partial_rows, std::uint64_t{1});
  return work;
}

}  // namespace

Problem make_problem(const sparse::BlockMatrix& w, const sparse::Shape& shape, std::uint32_t n) {
  return {shape,      w.block_rows(),     w.block_columns(), round_up(n, shape.lanes()),
          w.blocks(), blocks_by_column(w)};
}

Cuts most_cuts(const Problem& problem, const Planner& planner) {
  const std::uint32_t lanes = problem.shape.lanes();
  return {
      std::min(planner.most_parts, problem.columns / lanes),
      std::min(kMostBands, ceil_div(problem.block_columns, problem.shape.block == 1 ? 1 : lanes))};
}

std::optional<Expected> expect(const Problem& problem, std::uint32_t tiles, const Cuts& cuts,
                               const Planner& planner) {
  const Bands bands = cut_bands(problem.by_column, cuts.bands);
  const std::vector<Part> parts =
      cut_columns(problem.columns, cuts.parts, problem.shape.lanes(), tiles, cuts.dealing);
  if (parts.empty()) return std::nullopt;
  if (bands.count() == 0) return Expected{0, 0};
  Expected worst{0, 0};
  std::set<std::pair<std::uint32_t, std::uint32_t>> done;  // width and tiles of an interval
  for (const Part& part : parts) {
    if (!done.insert({part.width(), part.layer}).second) continue;
    const std::vector<std::uint32_t> by_band =
        tiles_by_band(bands.blocks, part.layer, tile_grain(tiles));
    if (by_band.empty()) return std::nullopt;
    if (planner.names && !planner.names(problem, bands, part.width())) return std::nullopt;
    TileWork work = fullest_tile(problem, bands, by_band,
                                 planner.asked_meet ? cuts.bands : bands.count(), part.width());
    work.results = ceil_div(problem.block_rows * std::uint64_t{problem.shape.block} *
                                problem.columns * problem.shape.bytes(),
                            std::uint64_t{tiles});
    const Expected one = planner.price(work, parts.size() > 1);
    worst = {std::max(worst.cycles, one.cycles), std::max(worst.bytes, one.bytes)};
  }
  return worst;
}

}  // namespace tessera::spmm_static
