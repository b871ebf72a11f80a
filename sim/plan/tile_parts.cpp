#include "sim/plan/tile_parts.h"

#include <algorithm>

namespace tessera::plan {

namespace {

/// A part of `array` in a one-tile program.
program::Buffer part_of(const Array& array, Tile tile, std::uint64_t bytes, std::uint32_t moment) {
  program::Buffer part{kSampleTile, bytes, array.align, array.keep, array.category, {}, array.name};
  if (array.contents)
    part.contents = [&array, tile](std::span<std::byte> into) { array.contents(tile, into); };
  if (array.inputs)
    part.contents = [&array, tile](std::span<std::byte> into) { array.inputs(tile, into, 0); };
  if (array.expected)
    part.contents = [&array, tile, moment](std::span<std::byte> into) {
      array.expected(tile, into, moment);
    };
  return part;
}

std::map<BufferId, ArrayPulls> taken(const Pulls& pulls) {
  std::map<BufferId, ArrayPulls> all;
  for (const Pull& pull : pulls) {
    ArrayPulls& one = all[pull.source.buffer];
    one.bytes += pull.bytes;
    one.pulls += 1;
  }
  return all;
}

}  // namespace

TileParts::TileParts(const Description& description, Tile tile, program::Program& sample,
                     std::uint32_t moment, const Aliases* aliases)
    : description_(description), tile_(tile), sample_(sample), moment_(moment), aliases_(aliases) {}

void TileParts::stand_for(std::span<const BufferId> arrays, std::span<const BufferId> others) {
  others_.clear();
  for (std::size_t i = 0; i < arrays.size(); ++i) others_.emplace(arrays[i], others[i]);
}

Place TileParts::operator()(Place place) {
  if (aliases_ != nullptr) place = (*aliases_)(place);
  if (const auto other = others_.find(place.buffer); other != others_.end())
    place.buffer = other->second;
  const auto [known, is_new] = parts_.try_emplace(place.buffer);
  if (is_new)
    known->second = sample_.add_buffer(
        part_of(description_.array(place.buffer), tile_, bytes(place.buffer), moment_));
  return {known->second, place.offset};
}

OuterPlace TileParts::operator()(OuterPlace place) {
  const auto [known, is_new] = outers_.try_emplace(place.buffer);
  if (is_new) {
    const OuterArray& array = description_.outer(place.buffer);
    program::OuterBuffer part{array.name, array.part_bytes(tile_), kSampleTile, array.keep, {}};
    if (array.part_contents)
      part.contents = [&array, tile = tile_](std::uint64_t offset, std::span<std::byte> into) {
        array.part_contents(tile, offset, into);
      };
    known->second = sample_.add_outer(std::move(part));
  }
  return {known->second, place.offset};
}

program::Vertex TileParts::operator()(program::Vertex vertex) {
  vertex.tile = kSampleTile;
  vertex.codelet = sample_.add_codelet(description_.codelets()[vertex.codelet]);
  for (program::Argument& argument : vertex.arguments) {
    if (auto* place = std::get_if<Place>(&argument)) *place = (*this)(*place);
    if (auto* place = std::get_if<OuterPlace>(&argument)) *place = (*this)(*place);
  }
  return vertex;
}

Pulls pulls_of(const Exchange& exchange, Tile tile, const Aliases& aliases) {
  Pulls pulls;
  if (tile < exchange.tiles) exchange.pulls(tile, pulls);
  aliases.drop(pulls);
  std::erase_if(pulls, [](const Pull& pull) { return pull.bytes == 0; });
  return pulls;
}

std::map<BufferId, ArrayPulls> most_taken(const Exchange& exchange, std::span<const Tile> tiles,
                                          const Aliases& aliases) {
  std::map<BufferId, ArrayPulls> most;
  for (const Tile tile : tiles)
    for (const auto& [array, one] : taken(pulls_of(exchange, tile, aliases))) {
      ArrayPulls& its = most[array];
      its = {std::max(its.bytes, one.bytes), std::max(its.pulls, one.pulls)};
    }
  return most;
}

}  // namespace tessera::plan
