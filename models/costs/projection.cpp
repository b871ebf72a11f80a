#include "models/costs/projection.h"

#include <variant>

namespace tessera {

using program::Place;
using program::Sequence;
using program::Step;

Participants::Participants(const program::Program& program, std::span<const std::uint32_t> tiles) {
  std::vector<std::uint64_t> bit_of_tile(program.tiles());
  for (std::size_t i = 0; i < tiles.size(); ++i) bit_of_tile[tiles[i]] |= std::uint64_t{1} << i;
  bit_of_buffer_.reserve(program.buffers().size());
  for (const program::Buffer& buffer : program.buffers())
    bit_of_buffer_.push_back(bit_of_tile[index(buffer.tile)]);
  find(program.main());
}

void Participants::find(const Sequence& sequence) {
  const auto bit_of = [&](Place place) {
    return bit_of_buffer_[static_cast<std::size_t>(place.buffer)];
  };
  for (const Step& step : sequence.steps) {
    if (const auto* repeat = std::get_if<program::Repeat>(&step.action)) find(repeat->body);
    const auto* exchange = std::get_if<program::Exchange>(&step.action);
    if (exchange == nullptr) continue;
    std::uint64_t& bits = of_[exchange];
    for (const program::Copy& copy : exchange->copies) {
      bits |= bit_of(copy.source);
      for (const Place& place : copy.destinations) bits |= bit_of(place);
    }
  }
}

Projection::Projection(const program::Program& program, TileId tile,
                       const Participants& participants, std::size_t number)
    : program_(program), tile_(tile), participants_(participants), number_(number), sample_(1) {
  words_ = sample_.add_buffer({TileId{0}, 8, 4, true, {}, {}, "words"});
  sample_.main() = of(program.main());
}

Sequence Projection::of(const Sequence& sequence) {
  Sequence own;
  for (const Step& step : sequence.steps) {
    if (const auto* repeat = std::get_if<program::Repeat>(&step.action)) {
      own.steps.push_back({program::Repeat{repeat->count, of(repeat->body)}, step.measured});
    } else if (const auto* set = std::get_if<program::ComputeSet>(&step.action)) {
      own.steps.push_back({of(*set), step.measured});
    } else if (const auto* exchange = std::get_if<program::Exchange>(&step.action)) {
      if (exchange->host) {
        own.steps.push_back({with_host(*exchange), step.measured});
      } else if (participants_.contain(*exchange, number_)) {
        own.steps.push_back({of(*exchange), step.measured});
      } else {
        own.steps.push_back({program::ComputeSet{exchange->name, {}}, step.measured});
      }
    }
  }
  return own;
}

program::Exchange Projection::of(const program::Exchange& exchange) const {
  return {exchange.name, {{{words_}, 4, {{words_, 4}}}}};
}

program::Exchange Projection::with_host(const program::Exchange& exchange) {
  program::Exchange own{exchange.name, {}, {}, exchange.turns, exchange.host};
  own.host->pieces.clear();
  for (const program::HostPiece& piece : exchange.host->pieces) {
    if (program_.buffer(piece.place.buffer).tile != tile_) continue;
    own.host->pieces.push_back(piece);
    own.host->pieces.back().place.buffer = own_of(piece.place.buffer);
  }
  return own;
}

program::ComputeSet Projection::of(const program::ComputeSet& set) {
  program::ComputeSet own{set.name, {}};
  for (const program::Vertex& vertex : set.vertices) {
    if (vertex.tile != tile_) continue;
    program::Vertex& copy = own.vertices.emplace_back(vertex);
    copy.tile = TileId{0};
    copy.codelet = sample_.add_codelet(program_.codelets()[vertex.codelet]);
    for (program::Argument& argument : copy.arguments) {
      if (auto* const place = std::get_if<Place>(&argument)) place->buffer = own_of(place->buffer);
      if (auto* const place = std::get_if<program::OuterPlace>(&argument))
        place->buffer = own_of(place->buffer);
    }
  }
  return own;
}

/// The copy shares its bytes with no other buffer: data from other tiles read as zeros here, never
/// as another buffer's remains, which code could take for an index.
program::BufferId Projection::own_of(program::BufferId buffer) {
  const auto [known, is_new] = buffers_.try_emplace(buffer);
  if (is_new) {
    program::Buffer copy = program_.buffer(buffer);
    copy.tile = TileId{0};
    copy.keep = true;
    if (!copy.initialised()) copy.contents = [](std::span<std::byte> /*zeros*/) {};
    known->second = sample_.add_buffer(std::move(copy));
  }
  return known->second;
}

program::OuterId Projection::own_of(program::OuterId buffer) {
  const auto [known, is_new] = outers_.try_emplace(buffer);
  if (is_new) {
    program::OuterBuffer copy = program_.outer(buffer);
    copy.tile = TileId{0};
    known->second = sample_.add_outer(std::move(copy));
  }
  return known->second;
}

}  // namespace tessera
