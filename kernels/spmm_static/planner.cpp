#include "kernels/spmm_static/planner.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "kernels/spmm_static/block_code.h"
#include "kernels/spmm_static/cost.h"
#include "kernels/spmm_static/element_work.h"
#include "kernels/spmm_static/published_estimate.h"

namespace tessera::spmm_static {

namespace {

constexpr std::uint32_t kMostParts = 32;  // of the published search
constexpr std::uint32_t kOurMostParts = 128;
constexpr std::uint32_t kMostBands = 128;

/// Mean of a binomial distribution and one standard deviation more, at most all.
std::uint64_t likely(double probability, std::uint64_t number) {
  const auto n = static_cast<double>(number);
  const double deviation = std::ceil(std::sqrt(probability * (1 - probability) * n));
  return std::min(static_cast<std::uint64_t>(std::ceil(probability * n + deviation)), number);
}

/// Probability that one of `number` blocks is there.
double any_of(double density, std::uint64_t number) {
  return 1 - std::pow(1 - density, static_cast<double>(number));
}

/// What the fullest tile of an interval of `width` columns is expected to do.
struct TileWork {
  std::uint64_t blocks;
  std::uint64_t rows;          ///< block rows
  std::uint64_t band;          ///< block columns of its band
  std::uint64_t span;          ///< block columns that its blocks may lie in
  std::uint64_t columns;       ///< block columns that they do lie in
  std::uint64_t partial_rows;  ///< tiles that hold parts of the same row
};

class Estimate {
 public:
  Estimate(const Problem& problem, const MachineConfig& machine, std::uint32_t width,
           const TileWork& work)
      : shape_(problem.shape), problem_(problem), machine_(machine), width_(width), work_(work) {}

  [[nodiscard]] Expected total(bool shares_values, Planner planner) const {
    const bool published = planner == Planner::published;
    const std::uint64_t cycles = (published ? published_cycles() : our_cycles()) +
                                 (shares_values ? ceil_div(value_bytes(), rate()) : 0);
    std::uint64_t bytes = x_bytes() + value_bytes() + q_bytes();
    if (!published) bytes += 2 * (work_.blocks + work_.rows);  // lists
    return {cycles, std::max(bytes, partial_bytes() + q_bytes())};
  }

 private:
  [[nodiscard]] std::uint64_t rate() const { return machine_.fabric.receive_bytes_per_cycle; }
  [[nodiscard]] std::uint64_t x_bytes() const {
    return work_.columns * shape_.block * width_ * shape_.bytes();
  }
  [[nodiscard]] std::uint64_t value_bytes() const {
    return work_.blocks * shape_.block * shape_.block * shape_.bytes();
  }
  [[nodiscard]] std::uint64_t q_bytes() const {
    return work_.rows * shape_.block * width_ * shape_.partial_bytes();
  }
  [[nodiscard]] std::uint64_t partial_bytes() const {
    return ceil_div(q_bytes() * (work_.partial_rows - 1), work_.partial_rows);
  }

  /// Results to where they are wanted, a byte a cycle and tile.
  [[nodiscard]] std::uint64_t results() const {
    return ceil_div(
        problem_.block_rows * std::uint64_t{shape_.block} * problem_.columns * shape_.bytes(),
        std::uint64_t{machine_.tiles});
  }

  /// Rows of X are hoped to come at the rate of pairs that take the same, the less so the more of
  /// the band's rows a tile leaves out.
  [[nodiscard]] std::uint64_t published_cycles() const {
    const std::uint32_t workers = machine_.tile.contexts;
    const std::uint64_t paired = machine_.fabric.pair_sharing ? 2 * rate() : rate();
    const double bias = static_cast<double>(work_.span) / static_cast<double>(work_.columns);
    const auto rows_of_x =
        static_cast<std::uint64_t>(static_cast<double>(ceil_div(x_bytes(), paired)) * bias);
    const std::uint64_t rows =
        shape_.block > 1 ? work_.rows : ceil_div<std::uint64_t>(work_.rows, workers);
    const std::uint64_t sums = ceil_div(q_bytes() / shape_.partial_bytes(), work_.partial_rows);
    return rows_of_x +
           published_product_cycles(shape_, rows, ceil_div(work_.blocks, work_.rows), width_,
                                    workers) +
           published_zeroing_cycles(shape_, q_bytes(), workers) +
           ceil_div(partial_bytes(), rate()) +
           published_adding_cycles(shape_, sums, work_.partial_rows, workers) + results();
  }

  [[nodiscard]] std::uint64_t our_cycles() const {
    return ceil_div(x_bytes(), rate()) + multiply() + reduce() + results();
  }

  [[nodiscard]] std::uint64_t multiply() const {
    const TileConfig& tile = machine_.tile;
    const std::uint64_t blocks = std::max(work_.blocks, work_.rows);
    if (shape_.block > 1) return block_cycles(shape_, tile, work_.rows, blocks, width_);
    const std::uint32_t words = width_ * shape_.bytes() / 8;
    const std::uint64_t rows = ceil_div<std::uint64_t>(work_.rows, tile.contexts);
    const std::uint64_t in_row = ceil_div(work_.blocks, work_.rows);
    std::uint64_t slots = 0;
    for (const std::uint32_t pass : {2U, 1U}) {
      const std::uint32_t passes = pass == 2 ? words / 2 : words % 2;
      const ElementCode code = element_code(shape_, pass);
      if (passes > 0) slots += code.slots(rows * code.row_slots(in_row), passes);
    }
    return slots * tile.contexts;
  }

  [[nodiscard]] std::uint64_t reduce() const {
    const std::uint64_t exchange = ceil_div(partial_bytes(), rate());
    if (work_.partial_rows == 1) return exchange;
    const std::uint64_t words = ceil_div(q_bytes() / 8, work_.partial_rows);
    const std::uint64_t chunks =
        ceil_div(ceil_div<std::uint64_t>(words, machine_.tile.contexts), std::uint64_t{4});
    return exchange + machine_.tile.contexts *
                          (kReduceSlots + chunks * chunk_slots(shape_, work_.partial_rows));
  }

  const Shape& shape_;
  const Problem& problem_;
  const MachineConfig& machine_;
  std::uint32_t width_;
  const TileWork& work_;
};

/// The band with most blocks a tile, and what its tiles do; partial rows come from so many bands.
TileWork fullest_tile(const Problem& problem, const Bands& bands,
                      const std::vector<std::uint32_t>& tiles, std::uint32_t meeting) {
  std::size_t most = 0;
  for (std::size_t band = 1; band < tiles.size(); ++band) {
    if (bands.blocks[band] * tiles[most] > bands.blocks[most] * tiles[band]) most = band;
  }
  const double density =
      std::min(static_cast<double>(problem.blocks) /
                   (static_cast<double>(problem.block_rows) * problem.block_columns),
               1.0);
  TileWork work{};
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

/// Whether the published work lists, of 16-bit numbers, can name every place in the dense rows of
/// the widest band, in bytes with single elements, else in words of a column of a block.
bool published_places_fit(const Problem& problem, const Bands& bands, std::uint32_t width) {
  std::uint64_t widest = 0;  // of columns with blocks
  for (std::uint32_t band = 0; band < bands.count(); ++band) {
    const auto at = [&](std::size_t i) {
      return problem.by_column.begin() + static_cast<std::ptrdiff_t>(bands.column[i]);
    };
    const auto empty = static_cast<std::uint64_t>(std::count(at(band), at(band + 1), 0U));
    widest = std::max(widest, bands.column[band + 1] - bands.column[band] - empty);
  }
  const std::uint64_t block = problem.shape.block;
  const std::uint64_t unit = block == 1 ? 1 : 8 * block;
  return widest * width * block * problem.shape.bytes() <= 0xffff * unit;
}

}  // namespace

Problem make_problem(const sparse::BlockMatrix& w, const Shape& shape, std::uint32_t n) {
  return {shape,      w.block_rows(),     w.block_columns(), round_up(n, shape.lanes()),
          w.blocks(), blocks_by_column(w)};
}

Cuts most_cuts(const Problem& problem, Planner planner) {
  const std::uint32_t grain = problem.shape.block == 1 ? 1 : problem.shape.lanes();
  return {std::min(planner == Planner::ours ? kOurMostParts : kMostParts,
                   problem.columns / problem.shape.lanes()),
          std::min(kMostBands, ceil_div(problem.block_columns, grain))};
}

std::optional<Expected> expect(const Problem& problem, const MachineConfig& machine,
                               const Cuts& cuts, Planner planner) {
  const std::uint32_t grain = tile_grain(machine.tiles);
  const Bands bands = cut_bands(problem.by_column, cuts.bands);
  const std::vector<Part> parts =
      cut_columns(problem.columns, cuts.parts, problem.shape.lanes(), machine.tiles, cuts.dealing);
  if (parts.empty()) return std::nullopt;
  if (bands.count() == 0) return Expected{0, 0};
  Expected worst{0, 0};
  std::set<std::pair<std::uint32_t, std::uint32_t>> done;  // width and tiles of an interval
  for (const Part& part : parts) {
    if (!done.insert({part.width(), part.layer}).second) continue;
    const std::vector<std::uint32_t> tiles = tiles_by_band(bands.blocks, part.layer, grain);
    if (tiles.empty()) return std::nullopt;
    if (planner == Planner::published && !published_places_fit(problem, bands, part.width())) {
      return std::nullopt;
    }
    // As published, bands that were asked for count even if there are fewer.
    const std::uint32_t meeting = planner == Planner::published ? cuts.bands : bands.count();
    const TileWork work = fullest_tile(problem, bands, tiles, meeting);
    const Expected one =
        Estimate(problem, machine, part.width(), work).total(parts.size() > 1, planner);
    worst = {std::max(worst.cycles, one.cycles), std::max(worst.bytes, one.bytes)};
  }
  return worst;
}

std::uint64_t planned_bytes(const MachineConfig& machine) {
  return static_cast<std::uint64_t>(kMemoryShare * machine.tile.sram_kib * 1024);
}

Found published_cuts(const Problem& problem, const MachineConfig& machine, const Cuts& pinned) {
  const Cuts most = most_cuts(problem, Planner::published);
  Found found;
  std::uint64_t least = 0;
  std::uint64_t least_bytes = ~std::uint64_t{0};
  for (std::uint32_t parts = 1; parts <= (pinned.parts != 0 ? 1 : most.parts); ++parts) {
    for (std::uint32_t bands = 1; bands <= (pinned.bands != 0 ? 1 : most.bands); ++bands) {
      const Cuts cuts{pinned.parts != 0 ? pinned.parts : parts,
                      pinned.bands != 0 ? pinned.bands : bands};
      const auto expected = expect(problem, machine, cuts, Planner::published);
      if (!expected) continue;
      if (expected->bytes < least_bytes) found.closest = cuts;
      least_bytes = std::min(least_bytes, expected->bytes);
      if (expected->bytes > planned_bytes(machine)) continue;
      if (found.cuts && expected->cycles >= least) continue;
      found.cuts = cuts;
      least = expected->cycles;
    }
  }
  return found;
}

}  // namespace tessera::spmm_static
