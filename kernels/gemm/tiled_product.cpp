#include "kernels/gemm/tiled_product.h"

#include <algorithm>
#include <numeric>

#include "sim/base/ranges.h"

namespace tessera::gemm {

using kernels::behind;
using kernels::Stored;

std::uint32_t rows_of_workers(std::uint32_t parts, std::uint32_t patches, std::uint32_t contexts) {
  const auto most = [=](std::uint32_t rows) {
    return ceil_div(parts, rows) * ceil_div(patches, contexts / rows);
  };
  std::uint32_t best = 1;
  for (std::uint32_t rows = 2; rows <= contexts; ++rows)
    if (most(rows) < most(best)) best = rows;
  return best;
}

/// [row][input].
void TiledProduct::write_a(std::uint64_t unit, std::span<std::byte> into) const {
  const auto first_row = static_cast<std::uint32_t>(unit / all_steps() * grid_.patch.rows);
  const auto first = static_cast<std::uint32_t>(unit % all_steps() * type_.inputs);
  std::ranges::fill(into, std::byte{});
  for (std::uint32_t r = 0; r < grid_.patch.rows && first_row + r < of_.product.m; ++r)
    for (std::uint32_t i = 0; i < type_.inputs && first + i < of_.product.k; ++i)
      store_number(type_, of_.a.value(first_row + r, first + i),
                   into.data() + std::size_t{r * type_.inputs + i} * type_.bytes);
}

/// [block][input][column].
void TiledProduct::write_b(std::uint64_t unit, std::span<std::byte> into) const {
  if (grid_.kept)
    return grid_.kept->write_blocks(static_cast<std::uint32_t>(unit / grid_.all_steps()),
                                    static_cast<std::uint32_t>(unit % grid_.all_steps()), into);
  const std::uint32_t columns = column_unit(type_, grid_.patch);
  const auto first_column = static_cast<std::uint32_t>(unit / all_steps() * columns);
  const auto first = static_cast<std::uint32_t>(unit % all_steps() * type_.inputs);
  std::ranges::fill(into, std::byte{});
  for (std::uint32_t i = 0; i < type_.inputs && first + i < of_.product.k; ++i)
    for (std::uint32_t c = 0; c < columns && first_column + c < of_.product.n; ++c)
      store_number(type_, of_.b->value(first + i, first_column + c),
                   into.data() + std::size_t{type_.place(i, c)} * type_.bytes);
}

Stored TiledProduct::stored_a(plan::Description& d) const {
  return {d, "a", EvenStorage(grid_.a_bytes(), a_unit(), d.tiles()),
          [its = shared_from_this()](std::uint64_t first, std::span<std::byte> into) {
            kernels::fill_units(first, into, its->a_unit(),
                                [&](std::uint64_t unit, auto whole) { its->write_a(unit, whole); });
          }};
}

Stored TiledProduct::stored_b(plan::Description& d) const {
  return {d, "b",
          EvenStorage(grid_.kept ? grid_.b_tiles() * b_unit() : grid_.b_bytes(),
                      grid_.kept ? kSlotAlign : b_unit(), d.tiles()),
          [its = shared_from_this()](std::uint64_t first, std::span<std::byte> into) {
            kernels::fill_units(first, into, its->b_unit(),
                                [&](std::uint64_t unit, auto whole) { its->write_b(unit, whole); });
          }};
}

Place TiledProduct::lists(plan::Description& d) const {
  const std::uint32_t each = grid_.kept->list_bytes();
  plan::Array lists{"lists",
                    [each, steps = grid_.steps](Tile) { return std::uint64_t{each} * steps; }};
  lists.contents = [its = shared_from_this(), each](Tile tile, std::span<std::byte> into) {
    for (std::uint32_t step = 0; step < its->grid_.steps; ++step)
      its->grid_.kept->write_lists(its->column_of(tile), its->step_of(tile, step),
                                   into.subspan(std::size_t{step} * each, each));
  };
  lists.tiles = tiles();
  return {d.array(std::move(lists))};
}

/// Pulls of some panels, from each the step of that number among those of all parts of the depth.
void TiledProduct::pull_panels(const Stored& from, std::uint32_t unit, Interval panels, Place into,
                               std::uint32_t number, Pulls& pulls) const {
  const std::uint64_t steps = tile_.depth / type_.inputs, bytes = steps * unit;
  for (std::uint64_t panel = panels.begin; panel < panels.end; ++panel) {
    const std::uint64_t begin = (panel * all_steps() + number * steps) * unit;
    from.pull({begin, begin + bytes}, behind(into, (panel - panels.begin) * bytes), pulls);
  }
}

void TiledProduct::pull_a(const Stored& a, Place into, Tile tile, std::uint32_t step,
                          Pulls& pulls) const {
  const std::uint64_t first = std::uint64_t{row_of(tile)} * parts_;
  pull_panels(a, a_unit(), {first, first + parts_}, into, step_of(tile, step), pulls);
}

void TiledProduct::pull_b(const Stored& b, Place into, Tile tile, std::uint32_t step,
                          Pulls& pulls) const {
  if (grid_.kept) {
    const std::uint64_t number =
        std::uint64_t{column_of(tile)} * grid_.all_steps() + step_of(tile, step);
    return b.pull({number * b_unit(), (number + 1) * b_unit()}, into, pulls);
  }
  const std::uint64_t first = std::uint64_t{column_of(tile)} * patches_;
  pull_panels(b, b_unit(), {first, first + patches_}, into, step_of(tile, step), pulls);
}

/// Pairs of kept blocks in some patches of a column of tiles.
std::uint32_t TiledProduct::pairs(std::uint32_t column, std::uint32_t step,
                                  const Interval& patches) const {
  std::uint32_t sum = 0;
  for (std::uint64_t patch = patches.begin; patch < patches.end; ++patch)
    sum += grid_.kept->pairs_of_patch(column, step, word(patch));
  return sum;
}

/// Ends of the workers' patches, the same in all steps: sums stay where they are. Kept blocks:
/// workers have about as many pairs of steps.
std::vector<std::uint64_t> TiledProduct::columns_of_workers(std::uint32_t column) const {
  const std::uint32_t across = contexts_ / worker_rows_;
  std::vector<std::uint64_t> ends;
  if (!grid_.kept) {
    for (std::uint32_t i = 0; i < across; ++i)
      ends.push_back(EvenSplit{patches_, across}.part(i).end);
    return ends;
  }
  std::vector<std::uint64_t> of_patch(patches_);
  for (std::uint32_t patch = 0; patch < patches_; ++patch)
    for (std::uint32_t step = 0; step < grid_.all_steps(); ++step)
      of_patch[patch] += grid_.kept->pairs_of_patch(column, step, patch);
  const std::uint64_t all = std::accumulate(of_patch.begin(), of_patch.end(), std::uint64_t{0});
  std::uint64_t before = 0;
  for (std::uint32_t patch = 0; patch < patches_; ++patch) {
    // It belongs to the worker that its middle is due to.
    const std::uint64_t middle = 2 * before + of_patch[patch];
    while (ends.size() + 1 < across && middle * across >= 2 * all * (ends.size() + 1))
      ends.push_back(patch);
    before += of_patch[patch];
  }
  ends.resize(across, patches_);
  return ends;
}

std::vector<Share> TiledProduct::shares(Tile tile) const {
  const EvenSplit rows{parts_, worker_rows_};
  const auto& ends = worker_ends_[grid_.kept ? column_of(tile) : 0];
  std::vector<Share> shares;
  for (std::uint32_t row = 0; row < worker_rows_; ++row)
    for (std::size_t i = 0; i < ends.size(); ++i)
      shares.push_back({rows.part(row), {i == 0 ? 0 : ends[i - 1], ends[i]}});
  return shares;
}

std::vector<CoreProduct> TiledProduct::workers(const CoreProduct& whole, Tile tile,
                                               std::uint32_t step) const {
  const CoreTile patch = this->patch();
  std::vector<CoreProduct> all;
  std::uint64_t before = 0;  // patches
  for (const Share& share : shares(tile)) {
    CoreProduct& worker = all.emplace_back(whole);
    worker.tile.rows = word(share.parts.size() * patch.rows);
    worker.tile.columns = word(share.patches.size() * patch.columns);
    worker.a = behind(std::get<Place>(whole.a), share.parts.begin * patch.a_bytes(type_));
    if (grid_.parts == 1)
      worker.c = behind(std::get<Place>(whole.c), before * patch.c_bytes(type_));
    if (grid_.keeps_sums())
      worker.sums = behind(std::get<Place>(whole.sums), before * patch.sum_bytes(type_));
    before += share.parts.size() * share.patches.size();
    std::uint64_t at = share.patches.begin * patch.b_bytes(type_);
    if (grid_.kept) {
      const std::uint32_t first =
          pairs(column_of(tile), step_of(tile, step), {0, share.patches.begin});
      at = std::uint64_t{2} * first * kept_bytes(type_);
      const Place lists = behind(std::get<Place>(whole.lists->pairs),
                                 std::uint64_t{step} * grid_.kept->list_bytes());
      const auto begin = grid_.kept->lists(lists.offset);
      worker.lists = {behind({lists.buffer, begin.pairs}, 2 * share.patches.begin),
                      behind({lists.buffer, begin.steps}, std::uint64_t{4} * first)};
    }
    worker.b = behind(std::get<Place>(whole.b), at);
  }
  return all;
}

Sizes TiledProduct::sizes(Tile tile, std::uint32_t step) const {
  Sizes most{0, 0, 0};
  for (const Share& share : shares(tile)) {
    if (share.parts.size() * share.patches.size() == 0) continue;
    const std::uint64_t turns =
        grid_.kept
            ? pairs(column_of(tile), step_of(tile, step), share.patches) - share.patches.size()
            : (tile_.depth - least_depth(type_)) / depth_unit(type_);
    const auto work = [](const Sizes& of) { return of[0] * (of[1] + of[2]); };
    if (const Sizes own{share.parts.size(), share.patches.size(), turns}; work(own) > work(most))
      most = own;
  }
  return most;
}

std::vector<Tile> TiledProduct::stand_for_all() const {
  constexpr std::uint32_t kMostSteps = 16;  // evenly chosen
  std::vector<Tile> all{0, tiles() - 1};
  for (const Tile end : {grid_.plan.array_columns, tiles_of_part()})
    if (end % 2 == 1 && end > 1) all.push_back(std::min(end, tiles() - 1));
  const std::uint32_t steps = grid_.kept ? std::min(grid_.steps, kMostSteps) : 0;
  for (std::uint32_t i = 0; i < steps; ++i) {
    const auto step = static_cast<std::uint32_t>(std::uint64_t{i} * grid_.steps / steps);
    const auto pairs = [&](Tile tile) {
      return grid_.kept->pairs(column_of(tile), step_of(tile, step));
    };
    Tile most = 0;
    for (Tile part = 0; part < grid_.parts; ++part)
      for (Tile column = 0; column < grid_.plan.array_columns; ++column)
        if (const Tile tile = part * tiles_of_part() + column; pairs(tile) > pairs(most))
          most = tile;
    all.push_back(most);
  }
  return sorted_once(std::move(all));
}

/// C [worker][part][patch][block][row][column].
void TiledProduct::add_runs(Tile tile, program::Runs& runs) const {
  const std::uint64_t m = of_.product.m, n = of_.product.n;
  const std::uint64_t each = kResultBytes / type_.bytes;
  const Interval own = ended(tile);
  std::uint64_t at = 0;  // from the first of the numbers that the tile ends with
  at -= own.begin * each;
  const auto add_row = [&](std::uint64_t row, std::uint64_t column) {
    if (at < own.size() * each && row < m && column < n) {
      const std::uint64_t count = std::min<std::uint64_t>(type_.outputs, n - column);
      if (of_.names.transposed)
        runs.add({at, column * m + row, count, m});
      else
        runs.add({at, row * n + column, count, 1});
    }
    at += type_.outputs;
  };
  for (const Share& share : shares(tile))
    for (std::uint64_t part = share.parts.begin; part < share.parts.end; ++part)
      for (std::uint64_t block = share.patches.begin * grid_.patch.blocks;
           block < share.patches.end * grid_.patch.blocks; ++block)
        for (std::uint32_t row = 0; row < grid_.patch.rows; ++row)
          add_row(std::uint64_t{row_of(tile)} * tile_.rows + part * grid_.patch.rows + row,
                  std::uint64_t{column_of(tile)} * tile_.columns + block * type_.outputs);
}

void TiledProduct::pull_sums(Place sums, Place into, Tile tile, Pulls& pulls) const {
  const Interval own = ended(tile);
  if (own.size() == 0) return;
  for (std::uint32_t part = 0; part < grid_.parts; ++part)
    pulls.push_back({behind(into, part * own.size() * kSumBytes),
                     part * tiles_of_part() + tile % tiles_of_part(),
                     behind(sums, own.begin * kSumBytes), word(own.size() * kSumBytes)});
}

void TiledProduct::add_up(const plan::Function& sum, Place parts, Place into, Tile tile,
                          Calls& calls) const {
  const std::uint64_t own = ended(tile).size();
  if (own > 0) calls.add(sum, {own, grid_.parts - 1U}, {parts, into});
}

}  // namespace tessera::gemm
