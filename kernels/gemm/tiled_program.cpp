#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "kernels/gemm/vector_product.h"
#include "kernels/stored.h"
#include "sim/base/ranges.h"

namespace tessera::gemm {
namespace {

using kernels::behind;
using plan::Tile;

/// Storage of an operand over all tiles, in the order in which tile code reads it: units of `unit`
/// bytes, panel by panel. A tile of C needs `panels` panels, and `units` units of each per step.
struct Held {
  std::uint64_t unit, panels, units;
  kernels::Stored stored = {};
};

/// A worker's share of a tile of C: parts of its rows and patches of its columns.
struct Share {
  Interval parts, patches;
};

/// A product on tiles: state that its description's functions keep.
class TiledProduct : public std::enable_shared_from_this<TiledProduct> {
 public:
  TiledProduct(VectorProduct of, const MachineConfig& machine)
      : of_(std::move(of)),
        grid_(of_.grid),
        type_(*grid_.type),
        tile_(grid_.plan.tile()),
        contexts_(machine.tile.contexts),
        parts_(tile_.rows / grid_.patch.rows),
        patches_(tile_.columns / column_unit(type_, grid_.patch)),
        worker_rows_(rows_of_workers(parts_, patches_, contexts_)) {
    for (Tile column = 0; column < (grid_.kept ? grid_.plan.array_columns : 1); ++column)
      worker_ends_.push_back(columns_of_workers(column));
  }
  TiledProduct(const TiledProduct&) = delete;
  TiledProduct& operator=(const TiledProduct&) = delete;

  [[nodiscard]] const VectorGrid& grid() const { return grid_; }
  /// Number of tiles with one part of the depth, and of all tiles.
  [[nodiscard]] Tile tiles_of_part() const {
    return grid_.plan.array_rows * grid_.plan.array_columns;
  }
  [[nodiscard]] Tile tiles() const { return tiles_of_part() * grid_.parts; }
  [[nodiscard]] std::uint32_t row_of(Tile tile) const {
    return tile % tiles_of_part() / grid_.plan.array_columns;
  }
  [[nodiscard]] std::uint32_t column_of(Tile tile) const { return tile % grid_.plan.array_columns; }
  /// Bytes of C that a tile finishes: its whole tile of C or, with parts of the depth, a share.
  [[nodiscard]] std::uint64_t c_bytes(Tile tile) const { return ended(tile).size() * kResultBytes; }
  /// Representative tiles: the busiest of some steps, those whose pair partner needs other data,
  /// and the last.
  [[nodiscard]] std::vector<Tile> stand_for_all() const {
    constexpr std::uint32_t kMostSteps = 16;  // evenly spaced
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
  /// A in panels of a patch's rows; a unit is [row][input].
  [[nodiscard]] Held held_a(plan::Description& d) const {
    Held a{std::uint64_t{grid_.patch.rows} * type_.inputs * type_.bytes, parts_,
           tile_.depth / type_.inputs};
    hold(d, "a", a, grid_.plan.array_rows, a.unit,
         [its = shared_from_this()](auto unit, auto into) {
           its->write_unit(
               unit, {its->grid_.patch.rows, its->of_.product.m}, into,
               [&](auto row, auto input) { return its->of_.a.value(row, input); },
               [&](auto row, auto input) { return row * its->type_.inputs + input; });
         });
    return a;
  }
  /// B in panels of a patch's columns, a unit is [block][input][column]; kept blocks tile by tile.
  [[nodiscard]] Held held_b(plan::Description& d) const {
    const std::uint32_t columns = column_unit(type_, grid_.patch);
    Held b{std::uint64_t{columns} * type_.inputs * type_.bytes, patches_,
           tile_.depth / type_.inputs};
    if (grid_.kept) b = {grid_.kept->block_bytes(), 1, 1};
    hold(d, "b", b, grid_.plan.array_columns, grid_.kept ? kSlotAlign : b.unit,
         [its = shared_from_this(), columns](auto unit, auto into) {
           const std::uint32_t steps = its->grid_.all_steps();
           if (its->grid_.kept)
             return its->grid_.kept->write_blocks(word(unit / steps), word(unit % steps), into);
           its->write_unit(
               unit, {columns, its->of_.product.n}, into,
               [&](auto column, auto input) { return its->of_.b->value(input, column); },
               [&](auto column, auto input) { return its->type_.place(input, column); });
         });
    return b;
  }
  /// The lists of a tile's kept blocks, step by step; they are constants.
  [[nodiscard]] Place lists(plan::Description& d) const {
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
  [[nodiscard]] std::uint64_t b_buffer_bytes() const {
    if (!grid_.kept) return tile_.b_bytes(type_);
    return grid_.kept->block_bytes() + std::uint64_t{2} * kept_bytes(type_);  // with read-ahead
  }
  /// Pulls a tile's panels of A or B for a step; `place`: its row or column.
  void pull(const Held& from, std::uint64_t place, Place into, Tile tile, std::uint32_t step,
            Pulls& pulls) const {
    const std::uint64_t bytes = from.units * from.unit;
    for (std::uint64_t i = 0; i < from.panels; ++i) {
      const std::uint64_t at =
          ((place * from.panels + i) * grid_.all_steps() + step_of(tile, step)) * bytes;
      from.stored.pull({at, at + bytes}, behind(into, i * bytes), pulls);
    }
  }
  /// Divides a tile's product, given as for a single worker, among the workers.
  [[nodiscard]] std::vector<CoreProduct> workers(const CoreProduct& whole, Tile tile,
                                                 std::uint32_t step) const {
    const CoreTile patch = this->patch();
    std::vector<CoreProduct> all;
    std::uint64_t before = 0;  // patches before this worker's
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
  /// Bytes of A and B that a tile sends in a step, for estimates.
  [[nodiscard]] std::uint64_t sent(const Held& a, const Held& b, Tile tile) const {
    return ceil_div(a.stored.bytes_on(tile) + b.stored.bytes_on(tile), std::uint64_t{grid_.steps});
  }
  /// Pulls a tile's share of all parts' sums, part by part, for add_up().
  void pull_sums(Place sums, Place into, Tile tile, Pulls& pulls) const {
    const Interval own = ended(tile);
    if (own.size() == 0) return;
    for (std::uint32_t part = 0; part < grid_.parts; ++part)
      pulls.push_back({behind(into, part * own.size() * kSumBytes),
                       part * tiles_of_part() + tile % tiles_of_part(),
                       behind(sums, own.begin * kSumBytes), word(own.size() * kSumBytes)});
  }
  void add_up(const plan::Function& sum, Place parts, Place into, Tile tile, Calls& calls) const {
    const std::uint64_t own = ended(tile).size();
    if (own > 0) calls.add(sum, {own, grid_.parts - 1U}, {parts, into});
  }
  /// Sizes of products_of() for the busiest worker.
  [[nodiscard]] Sizes sizes(Tile tile, std::uint32_t step) const {
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
  /// Adds the runs of a tile of C, stored as [worker][part][patch][block][row][column].
  void add_runs(Tile tile, program::Runs& runs) const {
    const std::uint64_t m = of_.product.m, n = of_.product.n;
    const std::uint64_t each = kResultBytes / type_.bytes;
    const Interval own = ended(tile);
    std::uint64_t at = 0;  // index in the numbers that the tile finishes
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

 private:
  /// Number of a tile's step, counted over all parts of the depth.
  [[nodiscard]] std::uint32_t step_of(Tile tile, std::uint32_t step) const {
    return tile / tiles_of_part() * grid_.steps + step;
  }
  [[nodiscard]] CoreTile patch() const {
    return {grid_.patch.rows, column_unit(type_, grid_.patch), tile_.depth};
  }
  /// The accumulators, in the order of sums, that a tile reduces and finishes.
  [[nodiscard]] Interval ended(Tile tile) const {
    const std::uint64_t all =
        std::uint64_t{parts_} * patches_ * patch().sum_bytes(type_) / kSumBytes;
    return EvenSplit{all, grid_.parts}.part(tile / tiles_of_part());
  }
  /// Adds the array of an operand for `tiles` tiles of C along it; write(unit, into) writes a unit.
  template <class Write>
  void hold(plan::Description& d, std::string_view name, Held& held, std::uint64_t tiles,
            std::uint64_t grain, Write write) const {
    const std::uint64_t units = tiles * held.panels * grid_.all_steps() * held.units;
    held.stored = {d, name, EvenStorage(units * held.unit, grain, d.tiles()),
                   [write, unit = held.unit](std::uint64_t first, std::span<std::byte> into) {
                     kernels::fill_units(first, into, unit, write);
                   }};
  }
  /// Lines of a panel, and of the operand. write_unit() writes a step's inputs of a panel.
  struct Lines {
    std::uint32_t lines, all;
  };
  template <class Value, class At>
  void write_unit(std::uint64_t unit, const Lines& panel, std::span<std::byte> into,
                  const Value& value, const At& at) const {
    const std::uint64_t steps = grid_.k / type_.inputs;
    const std::uint32_t line = word(unit / steps * panel.lines);
    const std::uint32_t first = word(unit % steps * type_.inputs);
    std::ranges::fill(into, std::byte{});
    for (std::uint32_t l = 0; l < panel.lines && line + l < panel.all; ++l)
      for (std::uint32_t i = 0; i < type_.inputs && first + i < of_.product.k; ++i)
        store_number(type_, value(line + l, first + i),
                     into.data() + std::size_t{at(l, i)} * type_.bytes);
  }
  /// Pairs of kept blocks in `patches` of a column of tiles.
  [[nodiscard]] std::uint32_t pairs(std::uint32_t column, std::uint32_t step,
                                    const Interval& patches) const {
    std::uint32_t sum = 0;
    for (std::uint64_t patch = patches.begin; patch < patches.end; ++patch)
      sum += grid_.kept->pairs_of_patch(column, step, word(patch));
    return sum;
  }
  /// Ends of the workers' patches, the same in all steps, since sums stay with their worker. With
  /// kept blocks workers get about equally many pairs of steps.
  [[nodiscard]] std::vector<std::uint64_t> columns_of_workers(std::uint32_t column) const {
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
      // A patch goes to the worker in whose share its middle lies.
      const std::uint64_t middle = 2 * before + of_patch[patch];
      while (ends.size() + 1 < across && middle * across >= 2 * all * (ends.size() + 1))
        ends.push_back(patch);
      before += of_patch[patch];
    }
    ends.resize(across, patches_);
    return ends;
  }
  [[nodiscard]] std::vector<Share> shares(Tile tile) const {
    const EvenSplit rows{parts_, worker_rows_};
    const auto& ends = worker_ends_[grid_.kept ? column_of(tile) : 0];
    std::vector<Share> shares;
    for (std::uint32_t row = 0; row < worker_rows_; ++row)
      for (std::size_t i = 0; i < ends.size(); ++i)
        shares.push_back({rows.part(row), {i == 0 ? 0 : ends[i - 1], ends[i]}});
    return shares;
  }

  VectorProduct of_;
  const VectorGrid& grid_;
  const VectorType& type_;
  CoreTile tile_;
  std::uint32_t contexts_;
  std::uint32_t parts_, patches_;  ///< in a tile of C
  std::uint32_t worker_rows_;
  /// By column of tiles, or one for all: the end of each worker's patches.
  std::vector<std::vector<std::uint64_t>> worker_ends_;
};

}  // namespace

plan::Described describe_tiles(const VectorProduct& of, const MachineConfig& machine) {
  const auto p = std::make_shared<const TiledProduct>(of, machine);
  const VectorGrid& grid = p->grid();
  const CoreTile tile = grid.plan.tile();
  const VectorType& type = *grid.type;
  plan::Description d(machine.tiles);
  const auto array_of = [&](std::string_view name, auto bytes, plan::Array made = {}) {
    made.align = kSlotAlign;
    return Place{kernels::Arrays{d, p->tiles()}(name, bytes, std::move(made))};
  };
  const auto array = [&](std::string_view name, std::uint64_t bytes, plan::Array made = {}) {
    return array_of(
        name, [bytes](Tile) { return bytes; }, std::move(made));
  };
  const Held a = p->held_a(d), b = p->held_b(d);
  CoreProduct whole{
      &type,
      tile,
      array("a tile", tile.a_bytes(type)),
      array("b tile", p->b_buffer_bytes()),
      array_of("c", [p](Tile at) { return std::max<std::uint64_t>(p->c_bytes(at), kSlotAlign); },
               {.keep = true}),
      array("sums", grid.keeps_sums() ? tile.sum_bytes(type) : kSlotAlign),
      array("zeros", kZeroBytes, {.contents = plan::zeros}),
      of.shift};
  if (grid.kept) whole.lists = {p->lists(d), 0U};
  const bool kept = grid.kept != nullptr;
  const elf::KernelCode codes("gemm");
  const auto code = kernels::Codelet::of(codes, d, shared_code(type, kept), machine.tile.contexts);
  for (std::uint32_t step = 0; step < grid.steps; ++step) {
    d.exchange(
        "inputs", p->tiles(),
        [=](Tile at, Pulls& pulls) {
          p->pull(a, p->row_of(at), std::get<Place>(whole.a), at, step, pulls);
          p->pull(b, p->column_of(at), std::get<Place>(whole.b), at, step, pulls);
        },
        [=](Tile at) { return p->sent(a, b, at); });
    whole.begins = grid.begins(step);
    whole.ends = grid.ends(step);
    const plan::Function& function =
        d.function(products_of(code, {&type, kept, whole.begins, whole.ends}));
    d.compute("product", p->tiles(), [=, &function](Tile at, Calls& calls) {
      calls.add_held(code.all(shared_arguments(p->workers(whole, at, step), code.contexts)),
                     function, p->sizes(at, step));
    });
  }
  if (grid.parts > 1) {
    const auto sums = std::get<Place>(whole.sums), c = std::get<Place>(whole.c);
    const Place parts = array_of("parts", [p, factor = grid.parts * kSumBytes / kResultBytes](
                                              Tile at) { return p->c_bytes(at) * factor; });
    d.exchange("parts", p->tiles(),
               [=](Tile at, Pulls& pulls) { p->pull_sums(sums, parts, at, pulls); });
    const plan::Function& sum = d.function(
        sum_of(kernels::Codelet::of(codes, d, sum_code(type), code.contexts), type, of.shift));
    d.compute("sums", p->tiles(),
              [=, &sum](Tile at, Calls& calls) { p->add_up(sum, parts, c, at, calls); });
  }
  d.tensor({of.result(), std::get<Place>(whole.c).buffer,
            [p](Tile at, program::Runs& runs) { p->add_runs(at, runs); }});
  return {std::move(d), p->stand_for_all()};
}

}  // namespace tessera::gemm
