#include "kernels/pixelfly/sampled.h"

#include <algorithm>

#include "kernels/pinned.h"
#include "kernels/pixelfly/gradient_products.h"
#include "kernels/planned.h"
#include "sim/base/ranges.h"
#include "sim/machine/nodes.h"

namespace tessera::pixelfly {

namespace {

/// Elements per chunk in sums of partial blocks; a chunk is summed on one tile.
constexpr std::uint64_t kChunk = 8;

/// Shape of the sums of partial blocks.
sparse::Shape summing(const Sampled& plan) {
  sparse::Shape sums = plan.partition.shape;
  sums.gradient = true;
  sums.partials = plan.partials();
  return sums;
}

using Work = std::shared_ptr<const SampledWork>;

/// Pulls the operands of a tile's sums: its share of each part's partial blocks, part after part.
void pull_partials(const SampledWork& work, Tile tile, BufferId partials, BufferId received,
                   Pulls& pulls) {
  const Sampled& plan = work.plan;
  const std::uint64_t size = plan.partial_size();
  const std::uint64_t begin = plan.results().begin(tile) / plan.partition.shape.bytes();
  const std::uint64_t held = plan.results().bytes_on(tile) / plan.partition.shape.bytes();
  const std::uint64_t end = std::min(begin + held, plan.blocks.size() * plan.area());
  std::uint64_t into = 0;
  for (const Part& part : plan.partition.parts) {
    std::uint64_t to = into;
    for (std::uint64_t at = begin; at < end;) {
      Sampled::Partials made = plan.partials_of(part, at);
      made.count = std::min(made.count, end - at);
      plan::Pull* const last = at == begin ? nullptr : &pulls.back();
      if (last != nullptr && last->from == made.tile &&
          last->source.offset + last->bytes == made.number * size)
        last->bytes += word(made.count * size);
      else
        pulls.push_back({{received, word(to * size)},
                         made.tile,
                         {partials, word(made.number * size)},
                         word(made.count * size)});
      at += made.count;
      to += made.count;
    }
    into += held;
  }
}

/// Adds the exchange of partial blocks to the tiles of the results, and their sums.
void add_sums(const Statement& statement, const Work& work, const std::string& name,
              BufferId partials, BufferId results) {
  const Tile tiles = work->plan.results().tiles();
  const sparse::Shape shape = summing(work->plan);
  const BufferId received =
      statement.description.array({"received", [work](Tile tile) -> std::uint64_t {
                                     const Sampled& plan = work->plan;
                                     return plan.results().bytes_on(tile) /
                                            plan.partition.shape.bytes() * plan.partial_size() *
                                            plan.partition.parts.size();
                                   }});
  statement.description.exchange(
      name + "partial blocks", tiles,
      [work, partials, received](Tile tile, Pulls& pulls) {
        pull_partials(*work, tile, partials, received, pulls);
      },
      [work](Tile tile) { return work->wanted_bytes(tile); });
  const sparse::Codelet code = spmm_static::adding_codelet(statement, shape);
  const auto workers = [work, shape, code](Tile tile) {
    const Sampled& plan = work->plan;
    return spmm_static::even_workers(shape, plan.results().bytes_on(tile) / shape.bytes(),
                                     plan.partition.parts.size(), code.contexts);
  };
  const BufferId segments = statement.list(
      "segments", [workers](Tile tile) { return segment_list(workers(tile)).size(); },
      [workers](Tile tile) { return segment_list(workers(tile)); });
  statement.description.compute(name + "add", tiles, [=](Tile tile, Calls& calls) {
    calls.add(adding(code, {received}, {results}, {segments}, workers(tile)));
  });
}

bool has_block(const sparse::BlockMatrix& matrix, std::uint32_t row, std::uint32_t column) {
  const std::uint64_t e = block_index(matrix, row, column);
  return e < matrix.row_begin[row + 1] && matrix.column[e] == column;
}

/// Merges every `rows` block rows of a pattern into one: the union of their block columns.
sparse::BlockMatrix together(const sparse::BlockMatrix& pattern, std::uint32_t rows) {
  sparse::BlockMatrix all;
  all.block = pattern.block;
  all.columns = pattern.columns;
  all.rows = ceil_div(pattern.block_rows(), rows) * pattern.block;
  all.row_begin.push_back(0);
  for (std::uint32_t first = 0; first < pattern.block_rows(); first += rows) {
    const std::uint32_t end = std::min(first + rows, pattern.block_rows());
    const std::vector<std::uint32_t> columns =
        sorted_once(slice(pattern.column, pattern.row_begin[first], pattern.row_begin[end]));
    all.column.insert(all.column.end(), columns.begin(), columns.end());
    all.row_begin.push_back(all.column.size());
  }
  return all;
}

/// The search for the plan of a sampled product; options are partitions.
class SampledSearch {
 public:
  SampledSearch(const sparse::BlockMatrix& pattern, const sparse::Shape& shape, std::uint32_t n,
                MachineCosts& costs, const SampledOperands& operands)
      : pattern_(pattern),
        shape_(shape),
        n_(n),
        operands_(operands),
        pricing_(costs),
        plans_(pricing_),
        together_(operands.on_unit ? shape.unit.columns / shape.y_depth() : 1),
        dealt_(together(pattern, together_)) {}

  /// Adds plans in which tiles have equal numbers of blocks, or whole rows if that differs.
  void add(std::uint32_t parts, std::uint32_t bands, std::optional<Dealing> pinned) {
    const std::uint64_t least = least_bytes(parts);
    least_ = std::min(least_, least);
    if (least + operands_.beside > sram_bytes(pricing_.machine().tile)) return;
    std::optional<Sampled> blocks;
    for (const Dealing dealing : {Dealing::blocks, Dealing::work, Dealing::rows}) {
      if (pinned ? dealing != *pinned : dealing == Dealing::work) continue;
      spmm_static::Cuts cuts{parts, bands, dealing};
      cuts.grain = operands_.on_unit ? square_columns(shape_) : 0;
      std::optional<Sampled> plan = plan_of(cuts);
      if (!plan || (blocks && deals_alike(*plan, *blocks))) continue;
      plans_.add(cuts, 0);
      blocks = std::move(plan);
    }
  }

  [[nodiscard]] Sampled best() {
    const MachineConfig& machine = pricing_.machine();
    const std::string what = fmt::format(
        "pixelfly: the gradient of {} blocks of {} over {} columns does not fit {} tiles",
        pattern_.blocks(), pattern_.block, n_, machine.tiles);
    if (plans_.bounds().empty()) {
      Sampled none{};
      const std::uint64_t least = least_ + operands_.beside;
      none.misfit = least > sram_bytes(machine.tile) ? overflow(what, least)
                                                     : what + ": its parts need more tiles";
      return none;
    }
    plan::Space space;
    space.reserved = operands_.beside;
    space.schedules = false;
    const auto [cuts, found] = kernels::best_of(
        plans_, [](const spmm_static::Cuts&) { return std::uint64_t{0}; },
        [this](const spmm_static::Cuts& of) { return described(of); }, std::move(space));
    Sampled plan = *plan_of(cuts);
    program::CategoryBytes need = found.memory;
    need[static_cast<std::size_t>(program::Category::tensors)] += operands_.beside;
    if (!found.fits) plan.misfit = program::overflow_message(what, {&need, 1}, machine);
    return plan;
  }

 private:
  /// Lower bound on bytes of the fullest tile while partial blocks are exchanged: the mean of sent
  /// and received partial blocks.
  [[nodiscard]] std::uint64_t least_bytes(std::uint32_t parts) const {
    const std::uint64_t made = dealt_.blocks() * together_ + pattern_.blocks();
    const std::uint64_t area = std::uint64_t{shape_.block} * shape_.block;
    const std::uint64_t size =
        data::element_bytes(operands_.on_unit ? shape_.unit.partial : program::Type::f32);
    return parts * made * area * size / pricing_.machine().tiles;
  }

  [[nodiscard]] std::string overflow(const std::string& what, std::uint64_t tensors) const {
    program::CategoryBytes need{};
    need[static_cast<std::size_t>(program::Category::tensors)] = tensors;
    return program::overflow_message(what, {&need, 1}, pricing_.machine());
  }

  /// The plan of a partition; none if it does not map to the tiles, or 16-bit lists do not reach.
  [[nodiscard]] std::optional<Sampled> plan_of(const spmm_static::Cuts& cuts) const {
    Sampled plan{
        make_partition(dealt_, shape_, n_, pricing_.machine().tiles, cuts, {}, operands_.b),
        operands_.a,
        operands_.on_unit,
        operands_.transposed,
        together_,
        pattern_.block_rows()};
    if (plan.partition.parts.empty() || !(plan.on_unit || named(plan))) return std::nullopt;
    add_wanted(plan);
    return plan;
  }

  static bool deals_alike(const Sampled& a, const Sampled& b) {
    const auto alike = [](const spmm_static::Layer& one, const spmm_static::Layer& other) {
      return std::ranges::equal(one.shares, other.shares, {}, &Share::last, &Share::last);
    };
    return std::ranges::equal(a.partition.layers, b.partition.layers, alike);
  }

  plan::Described described(const spmm_static::Cuts& cuts) {
    last_ = std::make_unique<const Sampled>(*plan_of(cuts));
    const Sampled& plan = *last_;
    plan::Described of(plan.partition.tiles);
    const Statement statement{of.description, code_, pricing_.machine().tile.contexts};
    const auto given = [&](const std::vector<DenseRows>& rows) {
      Arrays arrays;
      for (const DenseRows& each : rows) arrays.push_back(statement.stored(each.storage, "given"));
      return arrays;
    };
    const BufferId results = statement.stored(plan.results(), "results", {}, true);
    of.tiles = state_sampled(statement, plan, "", given(plan.a), given(plan.partition.x), results);
    return of;
  }

  /// True if 16-bit lists can address all places, and 16-bit strides suffice.
  [[nodiscard]] static bool named(const Sampled& plan) {
    for (const Part& part : plan.partition.parts) {
      const std::uint64_t step = plan.partition.block_bytes(part) / 8;
      if (part.width() * plan.partition.shape.bytes() > 0x8000) return false;
      for (const Share& share : plan.partition.layer(part).shares)
        if (std::max(share.rows.size(), share.columns.size()) * step > 0xffff) return false;
    }
    return true;
  }

  void add_wanted(Sampled& plan) const {
    const spmm_static::Distribution& deal = plan.partition.deal;
    plan.blocks.reserve(pattern_.blocks());
    plan.of_dealt.reserve(deal.blocks() + 1);
    for (std::uint64_t e = 0; e < deal.blocks(); ++e) {
      plan.of_dealt.push_back(plan.blocks.size());
      const std::uint32_t first = deal.row[e] * together_;
      const std::uint32_t end = std::min(first + together_, pattern_.block_rows());
      for (std::uint32_t row = first; row < end; ++row)
        if (together_ == 1 || has_block(pattern_, row, deal.column[e]))
          plan.blocks.push_back({row, deal.column[e]});
    }
    plan.of_dealt.push_back(plan.blocks.size());
  }

  const sparse::BlockMatrix& pattern_;
  const sparse::Shape& shape_;
  std::uint32_t n_;
  const SampledOperands& operands_;
  sparse::TileCode code_;
  plan::Pricing pricing_;
  kernels::Plans<spmm_static::Cuts> plans_;
  std::uint32_t together_;
  sparse::BlockMatrix dealt_;            ///< the pattern as multiplied: merged block rows
  std::uint64_t least_ = UINT64_MAX;     ///< smallest lower bound on bytes of a tile
  std::unique_ptr<const Sampled> last_;  ///< the plan last described
};

}  // namespace

EvenStorage Sampled::results() const {
  const std::uint64_t elements = round_up(blocks.size() * area(), kChunk);
  return {elements * partition.shape.bytes(), kChunk * partition.shape.bytes(), partition.tiles};
}

Sampled::Run Sampled::run(std::uint64_t e, std::uint64_t first) const {
  const std::uint64_t side = partition.shape.block;
  std::uint64_t of_a = first / side;
  std::uint64_t of_b = first % side;
  if (on_unit) {
    of_a = first / (side * line()) * line() + first % line();
    of_b = first % (side * line()) / line();
  }
  of_a += blocks[e].row * side;
  of_b += blocks[e].column * side;
  const std::uint64_t count = line() - first % line();
  if (transposed) return {of_b, of_a, count, down()};
  return {of_a, of_b, count, down()};
}

std::uint64_t Sampled::number(std::uint64_t row, std::uint64_t column) const {
  const std::uint64_t side = partition.shape.block;
  const std::uint64_t of_a = transposed ? column : row;
  const std::uint64_t of_b = transposed ? row : column;
  if (!on_unit) return of_a * side + of_b;
  return (of_a / line() * side + of_b) * line() + of_a % line();
}

Sampled::Partials Sampled::partials_of(const Part& part, std::uint64_t first) const {
  const std::uint64_t wanted = first / area();
  const auto after = std::ranges::upper_bound(of_dealt, wanted);
  const auto e = static_cast<std::uint64_t>(after - of_dealt.begin()) - 1;
  const auto& shares = partition.layer(part).shares;
  const Share& share = *std::ranges::upper_bound(shares, e, {}, &Share::last);
  const Tile tile = part.first_tile + share.place;
  if (!on_unit) return {tile, first - share.first * area(), share.last * area() - first};
  // Sums have the layout [group of outputs][row of B], with a line of each block in every group; in
  // the results a block's lines are consecutive, [group of outputs][its rows].
  const spmm_static::RowRun& row =
      *std::ranges::upper_bound(share.rows, e, {}, &spmm_static::RowRun::last);
  const std::uint64_t side = partition.shape.block;
  const std::uint64_t at_once = partition.shape.unit.columns;
  const std::uint64_t of_b = first % area() % (side * line()) / line();
  const std::uint64_t output = blocks[wanted].row % together * side +
                               first % area() / (side * line()) * line() + first % line();
  const std::uint64_t position = (e - row.first) * side + of_b;
  const std::uint64_t sum =
      (output / at_once * (row.last - row.first) * side + position) * at_once + output % at_once;
  return {tile, (row.first - share.first) * together * area() + sum, line() - first % line()};
}

std::uint64_t SampledWork::a_bytes(Tile tile) const {
  const auto& [part, share] = cells[tile];
  if (share == nullptr) return 0;
  return share->rows.size() * plan.together * plan.partition.block_bytes(*part);
}

std::uint64_t SampledWork::b_bytes(Tile tile) const {
  const auto& [part, share] = cells[tile];
  if (share == nullptr) return 0;
  return (plan.on_unit ? share->blocks() : share->columns.size()) *
         plan.partition.block_bytes(*part);
}

std::uint64_t SampledWork::partial_bytes(Tile tile) const {
  const Share* const share = cells[tile].share;
  if (share == nullptr) return 0;
  return round_up(share->blocks() * plan.together * plan.area() * plan.partial_size(),
                  std::uint64_t{8});
}

std::uint64_t SampledWork::wanted_bytes(Tile tile) const {
  const Share* const share = cells[tile].share;
  if (share == nullptr) return 0;
  return (plan.of_dealt[share->last] - plan.of_dealt[share->first]) * plan.area() *
         plan.partial_size();
}

std::vector<Tile> state_sampled(const Statement& statement, const Sampled& plan,
                                const std::string& name, const Arrays& a, const Arrays& b,
                                BufferId results) {
  const auto work = std::make_shared<const SampledWork>(plan);
  add_sums(statement, work, name, state_partial_blocks(statement, work, name, a, b), results);
  spmm_static::Representatives most(plan.partition.tiles);
  most.add(1, [&](Tile tile) { return work->partial_bytes(tile); });
  constexpr std::size_t kAlike = 3;  // tiles whose pairs may share data
  most.add(kAlike, [&](Tile tile) { return work->a_bytes(tile) + work->b_bytes(tile); });
  most.add(1, [&](Tile tile) { return work->a_bytes(tile); });
  most.add(1, [&](Tile tile) { return work->wanted_bytes(tile); });
  return most.tiles();
}

std::uint32_t most_parts(const sparse::Shape& shape, std::uint32_t n, std::uint32_t tiles,
                         bool on_unit) {
  return std::min(ceil_div(n, on_unit ? square_columns(shape) : shape.lanes()), tiles);
}

Sampled plan_sampled(const sparse::BlockMatrix& pattern, const sparse::Shape& shape,
                     std::uint32_t n, MachineCosts& costs, const PinnedCuts& pinned,
                     const SampledOperands& operands, const std::string& keys) {
  const std::uint32_t most = most_parts(shape, n, costs.machine().tiles, operands.on_unit);
  kernels::require_at_most(keys + ".parts", pinned.parts, most);
  kernels::require_at_most(keys + ".bands", pinned.bands, pattern.block_columns());
  SampledSearch search(pattern, shape, n, costs, operands);
  for (std::uint32_t parts = 1; parts <= most; parts += std::max(1U, parts / 4))
    for (const std::uint32_t bands : {1U, 2U, 4U, 8U}) {
      if (pinned.parts != 0 && parts > 1) break;
      if (pinned.bands != 0 && bands > 1) break;
      if (bands > pattern.block_columns()) break;
      search.add(pinned.parts != 0 ? pinned.parts : parts, pinned.bands != 0 ? pinned.bands : bands,
                 pinned.dealing);
    }
  return search.best();
}

}  // namespace tessera::pixelfly
