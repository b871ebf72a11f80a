#include <algorithm>

#include "kernels/layout.h"
#include "kernels/stream/stream.h"
#include "sim/plan/lower.h"
#include "sim/plan/search.h"
#include "sim/plan/uniform.h"

// Operands in external memory: each tile's own, from which workers load blocks by their DMA, or the
// chip's: in a round each tile's supervisor loads a block of each array, which the tile's workers
// divide. Block r of tile t is then block r x tiles + t of the array.
namespace tessera::stream {

using plan::OuterId;
using plan::OuterPlace;

/// Layout of a tile's external array: the first block of every worker, then the second of every
/// worker, ... The last blocks are smaller if blocks do not divide a worker's part.
struct Stream::Blocks {
  std::uint32_t workers;
  std::uint32_t bytes;  ///< bytes of a block
  std::uint32_t count;  ///< blocks of a worker
  std::uint32_t last;   ///< bytes of its last one

  [[nodiscard]] std::uint64_t worker_bytes() const {
    return (count - 1) * std::uint64_t{bytes} + last;
  }
  [[nodiscard]] std::uint64_t tile_bytes() const { return workers * worker_bytes(); }
  [[nodiscard]] std::uint32_t stride() const { return workers * bytes; }
  /// Byte at which a worker's block begins in the tile's part.
  [[nodiscard]] std::uint64_t begin(std::uint32_t worker, std::uint32_t block) const {
    return std::uint64_t{block} * stride() +
           worker * std::uint64_t{block + 1 == count ? last : bytes};
  }
};

/// The external arrays; an array that the operation does not use equals another one.
struct Stream::Outside {
  OuterId a, b, c;
};

Stream::Blocks Stream::blocks() const {
  const std::uint32_t worker = worker_bytes();
  const std::uint32_t block = std::min(options_.block_bytes, worker);
  const std::uint32_t count = ceil_div(worker, block);
  return {machine_.tile.contexts, block, count, worker - (count - 1) * block};
}

/// Rounds of blocks. With two sets of buffers operation read needs an odd number: its data are
/// checked in the first set, where an odd number of rounds leaves them.
std::uint32_t Stream::rounds() const {
  const std::uint64_t bytes = std::uint64_t{worker_bytes()} * machine_.tile.contexts;
  const auto count = word(ceil_div<std::uint64_t>(bytes, options_.block_bytes));
  const bool two_sets = machine_.tile.overlap && options_.operation == Operation::read;
  return two_sets ? count | 1U : count;
}

Prediction Stream::predict(MachineCosts& costs) const {
  if (in_rounds()) {
    plan::Pricing pricing(costs);
    return plan::priced(describe_rounds(), true, pricing).prediction;
  }
  // The order of contexts that compete for issue slots or the DMA settles after some iterations.
  constexpr FittedCost::Axis kBodies{8, 32};
  constexpr FittedCost::Axis kBlocks{2, 16, 16};
  constexpr FittedCost::Axis kRepeats{1, 2};
  return plan::predict_uniform(
      {options_.external ? kBlocks : kBodies, kRepeats}, {turns(), options_.repeats},
      [this](const Sizes& sizes) { return describe(1, word(sizes[0]), word(sizes[1]), false); },
      costs);
}

program::Program Stream::lowered() const {
  return plan::lower(in_rounds() ? describe_rounds()
                                 : describe(machine_.tiles, turns(), options_.repeats, true));
}

std::uint32_t Stream::turns() const {
  return options_.external ? blocks().count : worker_bytes() / body_bytes(options_.dtype);
}

plan::Description Stream::describe(std::uint32_t tiles, std::uint32_t turns, std::uint32_t repeats,
                                   bool filled) const {
  plan::Description description(tiles);
  if (!options_.external) {
    state_loop(description, turns, repeats);
    return description;
  }
  Blocks some = blocks();
  some.count = turns;
  state_blocks(description, some, repeats, filled);
  return description;
}

Stream::Outside Stream::add_outside(plan::Description& description, std::uint64_t bytes,
                                    bool filled) const {
  const auto add = [&](std::string_view name, std::uint64_t stream) {
    plan::OuterArray array{name, bytes, stream == 0};
    if (by_workers()) array.part_bytes = [bytes](Tile /*tile*/) { return bytes; };
    const auto write = [values = plan::slices_of(seeded(stream)), size = element_bytes()](
                           Tile tile, std::uint64_t at, std::span<std::byte> into) {
      values(tile, at / size, into);
    };
    if (stream > 0 && filled && by_workers()) array.part_contents = write;
    if (stream > 0 && filled && !by_workers())
      array.contents = [write](std::uint64_t at, std::span<std::byte> into) { write(0, at, into); };
    return description.outside(std::move(array));
  };
  const auto [reads, writes, operations] = facts_of(options_.operation);
  Outside all{};
  if (writes > 0) all.a = add("a", 0);
  all.b = reads > 0 ? add("b", 1) : all.a;
  all.c = reads > 1 ? add("c", 2) : all.b;
  if (writes == 0) all.a = all.b;
  return all;
}

void Stream::state_blocks(plan::Description& description, const Blocks& blocks,
                          std::uint32_t repeats, bool filled) const {
  const auto [reads, writes, operations] = facts_of(options_.operation);
  // Measured samples use fewer blocks of the same arrays, so that DRAM rows and banks stay the
  // same.
  const std::uint64_t bytes = this->blocks().tile_bytes();
  const Outside arrays = add_outside(description, bytes, filled);
  // Each worker holds a block of b and one of c.
  const std::uint64_t held = std::uint64_t{blocks.stride()} * std::max(1U, reads);
  plan::Array blocks_held{"blocks", [held](Tile /*tile*/) { return held; }, writes == 0};
  blocks_held.align = std::max(8U, machine_.external.worker_dma->align_bytes);
  if (reads == 0 && filled)
    blocks_held.contents = [values = plan::slices_of(seeded(1))](
                               Tile tile, std::span<std::byte> into) { values(tile, 0, into); };
  const BufferId buffer = description.array(std::move(blocks_held));
  add_calls(description, "blocks", block_loop(codelet(description), blocks, arrays, buffer),
            repeats);
  if (!filled) return;
  const Shape of_array{description.tiles(), bytes / element_bytes()};
  const Shape of_blocks{description.tiles(), blocks.stride() / element_bytes()};
  program::Tensor result{"a", program::Role::result, options_.dtype,
                         writes > 0 ? of_array : of_blocks};
  if (writes > 0)
    plan::add_result(description, std::move(result), arrays.a);
  else
    plan::add_result(description, std::move(result), buffer);
  add_given(description, "b", 1, reads > 0 ? of_array : of_blocks);
  if (reads > 1) add_given(description, "c", 2, of_array);
}

program::Vertex Stream::block_loop(const kernels::Codelet& codelet, const Blocks& blocks,
                                   const Outside& arrays, BufferId held) const {
  kernels::Arguments arguments{
      scalar_bits(), blocks.stride(), blocks.bytes, blocks.count - 1, blocks.last, 0U, 0U, 0U};
  const std::uint32_t blocks_of_worker = std::max(1U, facts_of(options_.operation).reads);
  for (std::uint32_t w = 0; w < blocks.workers; ++w) {
    // A worker with one block begins with its last one.
    const std::uint64_t begin = w * std::uint64_t{blocks.bytes};
    const std::uint64_t back = begin - w * std::uint64_t{blocks.last};
    for (const OuterId array : {arrays.a, arrays.b, arrays.c})
      arguments.emplace_back(OuterPlace{array, begin});
    arguments.emplace_back(Place{held, w * blocks.bytes * blocks_of_worker});
    for (const std::uint32_t each : {word(back), 0U, 0U, 0U}) arguments.emplace_back(each);
  }
  return codelet.all(std::move(arguments));
}

plan::Description Stream::describe_rounds() const {
  const Tile tiles = machine_.tiles;
  plan::Description description(tiles);
  const auto [reads, writes, operations] = facts_of(options_.operation);
  const std::uint32_t block = options_.block_bytes;
  const Outside arrays = add_outside(description, std::uint64_t{rounds()} * tiles * block, true);
  const auto held = [&](std::string_view name, bool keep = false) {
    return description.array({name, [block](Tile /*tile*/) { return block; }, keep});
  };
  const BufferId b = held("block of b", writes == 0);
  const BufferId c = reads > 1 ? held("block of c") : b;
  const BufferId a = writes > 0 ? held("block of a") : b;
  const auto moves = [=](BufferId array, OuterId outside, Tile tile) {
    plan::Load one{{array}, outside, tile * std::uint64_t{block}, block};
    one.steps[2] = std::uint64_t{tiles} * block;
    return one;
  };
  plan::Rounds turns;
  turns.name = "block";
  turns.passes = rounds();
  turns.tiles = tiles;
  turns.overlap = machine_.tile.overlap;
  turns.loaded = {b};
  if (reads > 1) turns.loaded.push_back(c);
  turns.loads = [=, both = reads > 1](Tile tile, plan::Loads& all) {
    all.push_back(moves(b, arrays.b, tile));
    if (both) all.push_back(moves(c, arrays.c, tile));
  };
  if (writes > 0)
    turns.stores = [=](Tile tile, plan::Loads& all) { all.push_back(moves(a, arrays.a, tile)); };
  description.rounds(
      std::move(turns), [](bool /*first*/) {},
      [&, moves_only = writes == 0] {
        if (moves_only) return;
        description.compute(
            "block", tiles,
            [vertex = loop(codelet(description), block / machine_.tile.contexts, a, b, c)](
                Tile /*tile*/, Calls& calls) { calls.add_by_size(vertex); });
      });
  const Shape whole{std::uint64_t{rounds()} * tiles, block / element_bytes()};
  program::Tensor result{"a", program::Role::result, options_.dtype, {slices(), whole.back()}};
  if (writes == 0) {
    plan::add_result(description, std::move(result), b);
  } else {
    for (std::uint64_t i = 0; i < whole.front(); ++i)
      result.parts.push_back({OuterPlace{arrays.a, i * block}, block});
    result.runs = program::slices(result.shape);
    description.tensor(std::move(result));
  }
  add_given(description, "b", 1, whole);
  if (reads > 1) add_given(description, "c", 2, whole);
  return description;
}

std::uint64_t Stream::source_of(std::uint64_t at) const {
  const Facts facts = facts_of(options_.operation);
  if (!options_.external) return at;
  const std::uint64_t in_block = options_.block_bytes / element_bytes();
  if (in_rounds())  // indices count through all tiles
    return facts.writes > 0 ? at : (rounds() - 1) * std::uint64_t{machine_.tiles} * in_block + at;
  if (facts.reads > 0 && facts.writes > 0) return at;
  const std::uint64_t size = element_bytes();
  const Blocks all = blocks();
  const std::uint64_t byte = at * size;
  if (options_.operation == Operation::write) {
    // Every block of a comes from the one block that its worker holds.
    const std::uint64_t whole = std::uint64_t{all.count - 1} * all.stride();
    const std::uint64_t length = byte < whole ? all.bytes : all.last;
    const std::uint64_t within = byte < whole ? byte % all.stride() : byte - whole;
    return (within / length * all.bytes + within % length) / size;
  }
  // A worker holds its last block, followed by the remainder of the block before.
  const auto worker = word(byte / all.bytes);
  const std::uint64_t within = byte % all.bytes;
  const std::uint32_t block = within < all.last ? all.count - 1 : all.count - 2;
  return (all.begin(worker, block) + within) / size;
}

}  // namespace tessera::stream
