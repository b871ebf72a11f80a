#include <algorithm>

#include "kernels/layout.h"
#include "kernels/stream/stream.h"
#include "sim/data/element.h"
#include "sim/plan/uniform.h"

// Operands in memory outside, each tile's own: workers bring and store blocks by their DMA.
namespace tessera::stream {

using plan::OuterId;
using plan::OuterPlace;
using plan::Tile;
using program::BufferId;
using program::Place;

Blocks Stream::blocks() const {
  const std::uint32_t worker = worker_bytes();
  const std::uint32_t block = std::min(options_.block_bytes, worker);
  const std::uint32_t count = ceil_div(worker, block);
  return {machine_.tile.contexts, block, count, worker - (count - 1) * block};
}

Prediction Stream::predict_outside(MachineCosts& costs) const {
  // The order in which workers find the DMA free settles after some blocks.
  constexpr FittedCost::Axis kBlocks{2, 16, 16};
  constexpr FittedCost::Axis kRepeats{1, 2};
  const Blocks whole = blocks();
  return plan::predict_uniform(
      {kBlocks, kRepeats}, {whole.count, options_.repeats},
      [&](const plan::Sizes& sizes) {
        Blocks some = whole;
        some.count = word(sizes[0]);
        return describe_outside(1, some, word(sizes[1]), false);
      },
      costs);
}

plan::Description Stream::describe_outside(std::uint32_t tiles, const Blocks& blocks,
                                           std::uint32_t repeats, bool filled) const {
  plan::Description description(tiles);
  const Facts facts = facts_of(options_.operation);
  const auto outside = [&](std::string_view name, std::uint64_t stream) {
    plan::OuterArray array{name, 0, stream == 0, {}};
    // Samples work on fewer blocks of the same arrays: rows and banks are where they are.
    array.part_bytes = [bytes = this->blocks().tile_bytes()](Tile /*tile*/) { return bytes; };
    if (stream > 0 && filled)
      array.part_contents = [this, stream](Tile tile, std::uint64_t offset,
                                           std::span<std::byte> into) {
        fill(TileId(tile), stream, into, offset / data::element_bytes(options_.dtype));
      };
    return description.outside(std::move(array));
  };
  const OuterId first = facts.writes > 0 ? outside("a", 0) : outside("b", 1);
  const OuterId b = facts.writes > 0 && facts.reads > 0 ? outside("b", 1) : first;
  const OuterId c = facts.reads > 1 ? outside("c", 2) : b;
  const OuterId arrays[] = {first, b, c};
  // Of each worker a block of b, and one of c.
  const std::uint64_t held = std::uint64_t{blocks.stride()} * std::max(1U, facts.reads);
  plan::Array blocks_held{"blocks", [held](Tile /*tile*/) { return held; }, facts.writes == 0};
  blocks_held.align = std::max(8U, machine_.external.worker_dma->align_bytes);
  if (facts.reads == 0 && filled)
    blocks_held.contents = [this](Tile tile, std::span<std::byte> into) {
      fill(TileId(tile), 1, into);
    };
  const BufferId buffer = description.array(std::move(blocks_held));
  const auto add_loop = [&] {
    description.compute("blocks", tiles,
                        [vertex = block_loop(codelet(description), blocks, arrays, buffer)](
                            Tile /*tile*/, plan::Calls& calls) { calls.add(vertex); });
  };
  if (repeats == 1)
    add_loop();
  else
    description.repeat(repeats, add_loop);
  if (filled) add_outside_tensors(description, blocks, arrays, buffer);
  return description;
}

program::Vertex Stream::block_loop(const kernels::Codelet& codelet, const Blocks& blocks,
                                   const OuterId (&arrays)[3], BufferId held) const {
  kernels::Arguments arguments{
      scalar_bits(), blocks.stride(), blocks.bytes, blocks.count - 1, blocks.last, 0U, 0U, 0U};
  const std::uint32_t blocks_of_worker = std::max(1U, facts_of(options_.operation).reads);
  for (std::uint32_t w = 0; w < blocks.workers; ++w) {
    // A worker of one block begins with its last.
    const std::uint64_t begin = w * std::uint64_t{blocks.bytes};
    const std::uint64_t back = begin - w * std::uint64_t{blocks.last};
    for (const OuterId array : arrays) arguments.emplace_back(OuterPlace{array, begin});
    arguments.emplace_back(Place{held, w * blocks.bytes * blocks_of_worker});
    for (const std::uint32_t each : {word(back), 0U, 0U, 0U}) arguments.emplace_back(each);
  }
  return codelet.all(std::move(arguments));
}

void Stream::add_outside_tensors(plan::Description& description, const Blocks& blocks,
                                 const OuterId (&arrays)[3], BufferId held) const {
  const Facts facts = facts_of(options_.operation);
  const std::uint64_t size = data::element_bytes(options_.dtype);
  const std::uint64_t elements = blocks.tile_bytes() / size;
  const auto tensor = [&](std::string name, program::Role role, std::uint64_t of_tile) {
    return program::Tensor{std::move(name), role, options_.dtype, {description.tiles(), of_tile}};
  };
  const auto runs = [&](std::uint64_t of_tile) {
    return [slice = program::slices({description.tiles(), of_tile})](
               Tile tile, program::Runs& into) { slice(tile, into); };
  };
  const std::uint64_t kept = facts.writes > 0 ? elements : blocks.stride() / size;
  plan::TensorOver result{tensor("a", program::Role::result, kept), held, runs(kept)};
  if (facts.writes > 0) result.array = arrays[0];
  description.tensor(std::move(result));
  const auto given = [&](std::string name, std::uint64_t stream, std::uint64_t of_tile) {
    program::Tensor input = tensor(std::move(name), program::Role::input, of_tile);
    input.given = [this, stream, of_tile, size](std::uint64_t at, std::span<std::byte> into) {
      while (!into.empty()) {
        const std::uint64_t some =
            std::min<std::uint64_t>(into.size() / size, of_tile - at % of_tile);
        fill(TileId(word(at / of_tile)), stream, into.first(some * size), at % of_tile);
        into = into.subspan(some * size);
        at += some;
      }
    };
    description.tensor(std::move(input));
  };
  given("b", 1, facts.reads > 0 ? elements : blocks.stride() / size);
  if (facts.reads > 1) given("c", 2, elements);
}

std::uint64_t Stream::source_of(std::uint64_t at) const {
  const Facts facts = facts_of(options_.operation);
  if (!options_.external) return at;
  const std::uint64_t in_block = options_.block_bytes / data::element_bytes(options_.dtype);
  if (in_rounds())  // numbers go through all tiles
    return facts.writes > 0 ? at : (rounds() - 1) * std::uint64_t{machine_.tiles} * in_block + at;
  if (facts.reads > 0 && facts.writes > 0) return at;
  const std::uint64_t size = data::element_bytes(options_.dtype);
  const Blocks all = blocks();
  const std::uint64_t byte = at * size;
  if (options_.operation == Operation::write) {
    // Every block of a is what its worker holds.
    const std::uint64_t whole = std::uint64_t{all.count - 1} * all.stride();
    const std::uint64_t length = byte < whole ? all.bytes : all.last;
    const std::uint64_t within = byte < whole ? byte % all.stride() : byte - whole;
    return (within / length * all.bytes + within % length) / size;
  }
  // What a worker holds is its last block, and behind that the rest of the one before.
  const auto worker = word(byte / all.bytes);
  const std::uint64_t within = byte % all.bytes;
  const std::uint32_t block = within < all.last ? all.count - 1 : all.count - 2;
  return (all.begin(worker, block) + within) / size;
}

}  // namespace tessera::stream
