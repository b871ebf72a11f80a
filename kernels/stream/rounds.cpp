#include "kernels/layout.h"
#include "kernels/stream/stream.h"
#include "sim/data/element.h"
#include "sim/plan/lower.h"
#include "sim/plan/search.h"

// Operands in the chip's memory outside: in a round each tile's supervisor brings a block of each
// array, and the tile's workers share it. Block r of tile t is number r x tiles + t of the array.
namespace tessera::stream {

using plan::OuterId;
using plan::Tile;
using program::BufferId;

namespace {

using Moves = std::vector<std::pair<BufferId, OuterId>>;

/// A block of each, of the tile at hand in round `turn`.
std::function<void(Tile, plan::Loads&)> blocks_of(Moves moves, std::uint64_t tiles,
                                                  std::uint32_t block) {
  return [=, moves = std::move(moves)](Tile tile, plan::Loads& all) {
    for (const auto& [held, outside] : moves) {
      plan::Load one{{held}, outside, tile * std::uint64_t{block}, block};
      one.steps[2] = tiles * block;
      all.push_back(one);
    }
  };
}

}  // namespace

/// What is read is checked where it lies in the end: in the first of two sets of arrays, after an
/// odd number of rounds.
std::uint32_t Stream::rounds() const {
  const std::uint64_t bytes = std::uint64_t{worker_bytes()} * machine_.tile.contexts;
  const auto count = word(ceil_div<std::uint64_t>(bytes, options_.block_bytes));
  const bool two_sets = machine_.tile.overlap && options_.operation == Operation::read;
  return two_sets ? count | 1U : count;
}

Prediction Stream::predict_rounds(MachineCosts& costs) const {
  plan::Pricing pricing(costs);
  return plan::priced(describe_rounds(), true, pricing).prediction;
}

plan::Description Stream::describe_rounds() const {
  const Tile tiles = machine_.tiles;
  plan::Description description(tiles);
  const Facts facts = facts_of(options_.operation);
  const std::uint32_t block = options_.block_bytes;
  const auto outside = [&](std::string_view name, std::uint64_t stream) {
    plan::OuterArray array{name, std::uint64_t{rounds()} * tiles * block, stream == 0};
    if (stream > 0)
      array.contents = [this, stream](std::uint64_t offset, std::span<std::byte> into) {
        fill(TileId{0}, stream, into, offset / data::element_bytes(options_.dtype));
      };
    return description.outside(std::move(array));
  };
  const auto held = [&](std::string_view name, bool keep) {
    return description.array({name, [block](Tile /*tile*/) { return block; }, keep});
  };
  const OuterId first = facts.writes > 0 ? outside("a", 0) : OuterId{};
  const OuterId second = outside("b", 1);
  const OuterId third = facts.reads > 1 ? outside("c", 2) : second;
  const BufferId b = held("block of b", facts.writes == 0);
  const BufferId c = facts.reads > 1 ? held("block of c", false) : b;
  const BufferId a = facts.writes > 0 ? held("block of a", false) : b;
  plan::Rounds turns;
  turns.name = "block";
  turns.passes = rounds();
  turns.tiles = tiles;
  turns.overlap = machine_.tile.overlap;
  turns.loaded = {b};
  Moves loads{{b, second}};
  if (facts.reads > 1) {
    turns.loaded.push_back(c);
    loads.emplace_back(c, third);
  }
  turns.loads = blocks_of(loads, tiles, block);
  if (facts.writes > 0) turns.stores = blocks_of({{a, first}}, tiles, block);
  const auto loop_of_block = [&] {
    if (facts.writes == 0) return;
    description.compute(
        "block", tiles,
        [vertex = loop(codelet(description), block / machine_.tile.contexts, a, b, c)](
            Tile /*tile*/, plan::Calls& calls) { calls.add_by_size(vertex); });
  };
  description.rounds(
      std::move(turns), [](bool /*first*/) {}, loop_of_block);
  add_round_tensors(description, {first, second, third}, b);
  return description;
}

void Stream::add_round_tensors(plan::Description& description, const OuterId (&arrays)[3],
                               BufferId read) const {
  const Facts facts = facts_of(options_.operation);
  const std::uint64_t elements = options_.block_bytes / data::element_bytes(options_.dtype);
  const std::uint64_t all = std::uint64_t{rounds()} * machine_.tiles;
  program::Tensor result{"a", program::Role::result, options_.dtype, {slices(), elements}};
  auto runs = program::slices(result.shape);
  if (facts.writes == 0) {
    description.tensor(
        {std::move(result), read, [runs](Tile tile, program::Runs& into) { runs(tile, into); }});
  } else {
    for (std::uint64_t i = 0; i < all; ++i)
      result.parts.push_back(
          {program::OuterPlace{arrays[0], i * options_.block_bytes}, options_.block_bytes});
    result.runs = std::move(runs);
    description.tensor(std::move(result));
  }
  const auto given = [&](std::string name, std::uint64_t stream) {
    program::Tensor input{std::move(name), program::Role::input, options_.dtype, {all, elements}};
    input.given = [this, stream](std::uint64_t first, std::span<std::byte> into) {
      fill(TileId{0}, stream, into, first);
    };
    description.tensor(std::move(input));
  };
  given("b", 1);
  if (facts.reads > 1) given("c", 2);
}

}  // namespace tessera::stream
