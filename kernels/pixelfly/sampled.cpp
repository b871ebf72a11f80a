#include "kernels/pixelfly/sampled.h"

#include <algorithm>

namespace tessera::pixelfly {

namespace {

/// Partial blocks are summed in chunks of so many elements, which stay on one tile.
constexpr std::uint64_t kChunk = 8;

/// Shape of the sums of partial blocks.
sparse::Shape summing(const Sampled& plan) {
  sparse::Shape sums = plan.partition.shape;
  sums.gradient = true;
  sums.partials = plan.partials();
  return sums;
}

using Work = std::shared_ptr<const SampledWork>;

/// Pulls what a tile adds up: its results of each part, part after part.
void pull_partials(const SampledWork& work, Tile tile, BufferId partials, BufferId received,
                   plan::Pulls& pulls) {
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

/// Partial blocks to where their results are wanted, and their sums.
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
      [work, partials, received](Tile tile, plan::Pulls& pulls) {
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
  statement.description.compute(name + "add", tiles, [=](Tile tile, plan::Calls& calls) {
    calls.add(adding(code, {received}, {results}, {segments}, workers(tile)));
  });
}

}  // namespace

kernels::EvenStorage Sampled::results() const {
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
  // Sums lie as [outputs at once][row of B], in which a block has a line of each row; in its
  // results these lie behind each other, as [outputs at once][its rows].
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

BufferId SampledWork::array(const Work& work, const Statement& statement, std::string_view name,
                            Bytes bytes) {
  return statement.description.array(
      {name, [work, bytes](Tile tile) -> std::uint64_t { return ((*work).*bytes)(tile); }});
}

std::vector<Tile> state_sampled(const Statement& statement, const Sampled& plan,
                                const std::string& name, const Arrays& a, const Arrays& b,
                                BufferId results) {
  const auto work = std::make_shared<const SampledWork>(plan);
  const auto state = plan.on_unit ? state_unit_product : state_vector_product;
  add_sums(statement, work, name, state(statement, work, name, a, b), results);
  spmm_static::Representatives most(plan.partition.tiles);
  most.add(1, [&](Tile tile) { return work->partial_bytes(tile); });
  constexpr std::size_t kAlike = 3;  // those whose pairs may take the same
  most.add(kAlike, [&](Tile tile) { return work->a_bytes(tile) + work->b_bytes(tile); });
  most.add(1, [&](Tile tile) { return work->a_bytes(tile); });
  most.add(1, [&](Tile tile) { return work->wanted_bytes(tile); });
  return most.tiles();
}

}  // namespace tessera::pixelfly
