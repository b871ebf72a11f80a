#include "sim/program/fingerprint.h"

#include <bit>
#include <cstring>

namespace tessera::program {
namespace {

/// The mixing of MurmurHash3 x64 128 (Austin Appleby, public domain), a word at a time, its two
/// halves in parallel; the kind of each step or argument is hashed too, so that lists of different
/// lengths differ.
class Hasher {
 public:
  void add(std::uint64_t word) {
    h1_ ^= std::rotl(word * kFirst, 31) * kSecond;
    h1_ = std::rotl(h1_, 27) * 5 + 0x52dce729;
    h2_ ^= std::rotl(word * kSecond, 33) * kFirst;
    h2_ = std::rotl(h2_, 31) * 5 + 0x38495ab5;
  }
  void add(std::uint32_t a, std::uint32_t b) { add(std::uint64_t{a} << 32 | b); }
  void add(std::span<const std::byte> bytes) {
    add(bytes.size());
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
      add(word);
    }
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  void add(Place place) { add(static_cast<std::uint32_t>(place.buffer), place.offset); }
  void add(OuterPlace place) {
    add(std::uint64_t{static_cast<std::uint32_t>(place.buffer)});
    add(place.offset);
  }

  void add(const Sequence& sequence) {
    add(sequence.steps.size());
    for (const Step& step : sequence.steps) {
      add(static_cast<std::uint32_t>(step.action.index()), step.measured ? 1 : 0);
      std::visit([this](const auto& action) { add(action); }, step.action);
    }
  }

  void add(const Exchange& exchange) {
    add(std::string_view(exchange.name));
    add(exchange.copies.size());
    for (const Copy& copy : exchange.copies) {
      add(copy.source);
      add(copy.bytes, static_cast<std::uint32_t>(copy.destinations.size()));
      for (const Place& place : copy.destinations) add(place);
    }
    add(exchange.streams.size());
    for (const Stream& stream : exchange.streams) {
      add(stream.name);
      add(stream.source);
      add(stream.destinations.size());
      for (const Walk& walk : stream.destinations) add(walk);
    }
    add(exchange.outside.size());
    for (const OuterCopy& copy : exchange.outside) add(copy);
    const Turns& turns = exchange.turns;
    add(turns.count, turns.first);
    add(turns.every, turns.skipped);
    add(turns.radices[0], turns.radices[1]);
    add(std::uint64_t{turns.period});
    add(exchange.host ? 1 : 0);
    if (exchange.host) add(*exchange.host);
  }

  void add(const Buffer& buffer) {
    add(std::uint64_t{index(buffer.tile)});
    add(buffer.bytes);
    const std::uint32_t flags = (buffer.keep ? 1U : 0U) | (buffer.contents ? 2U : 0U) |
                                (buffer.inputs ? 4U : 0U) |
                                static_cast<std::uint32_t>(buffer.category) << 8;
    add(buffer.align, flags);
  }

  [[nodiscard]] Fingerprint finish() const { return {finished(h1_ + h2_), finished(h2_ ^ h1_)}; }

 private:
  static constexpr std::uint64_t kFirst = 0x87c37b91114253d5, kSecond = 0x4cf5ad432745937f;

  static std::uint64_t finished(std::uint64_t word) {
    word = (word ^ word >> 33) * 0xff51afd7ed558ccd;
    word = (word ^ word >> 33) * 0xc4ceb9fe1a85ec53;
    return word ^ word >> 33;
  }

  void add(const Walk& walk) {
    add(walk.place);
    add(std::uint64_t{walk.unit});
    for (const StreamExtent& extent : walk.extents) {
      add(extent.count, extent.pitch);
      add(extent.before, extent.after);
    }
    for (const std::uint32_t step : walk.steps) add(std::uint64_t{step});
  }
  void add(const OuterCopy& copy) {
    add(copy.place);
    add(copy.outside);
    add(copy.row_bytes, copy.rows);
    add(copy.pitch);
    for (const std::uint64_t step : copy.steps) add(step);
    add(copy.outward ? 1 : 0);
  }
  void add(const Vertex& vertex) {
    add(index(vertex.tile), vertex.codelet);
    add(static_cast<std::uint32_t>(vertex.executor), vertex.worker);
    add(vertex.arguments.size());
    for (const Argument& argument : vertex.arguments) {
      add(argument.index());
      if (const auto* word = std::get_if<std::uint32_t>(&argument)) add(std::uint64_t{*word});
      if (const auto* place = std::get_if<Place>(&argument)) add(*place);
      if (const auto* place = std::get_if<OuterPlace>(&argument)) add(*place);
    }
  }
  void add(const ComputeSet& set) {
    add(std::string_view(set.name));
    add(set.vertices.size());
    for (const Vertex& vertex : set.vertices) add(vertex);
    add(std::uint64_t{set.syncs});
  }
  void add(const HostTransfer& transfer) {
    add(static_cast<std::uint32_t>(transfer.direction),
        static_cast<std::uint32_t>(transfer.pieces.size()));
    for (const HostPiece& piece : transfer.pieces) {
      add(piece.place);
      add(std::uint64_t{piece.bytes});
    }
  }
  void add(const Repeat& repeat) {
    add(std::uint64_t{repeat.count});
    add(repeat.body);
  }
  void add(const While& loop) {
    add(std::string_view(loop.name));
    add(loop.test);
    add(loop.body);
    add(loop.decisions.size());
    for (const Place& place : loop.decisions) add(place);
  }

  void add(const Start& start) { add(static_cast<std::uint64_t>(start.exchange)); }
  void add(const Wait& wait) { add(static_cast<std::uint64_t>(wait.exchange)); }

  std::uint64_t h1_ = 0, h2_ = 0;
};

}  // namespace

Fingerprint fingerprint(const Program& program) {
  Hasher hasher;
  hasher.add(program.tiles(), program.workers());
  hasher.add(program.codelets().size());
  for (const Codelet& codelet : program.codelets()) {
    hasher.add(std::string_view(codelet.name));
    hasher.add(std::span<const std::byte>(codelet.code));
  }
  hasher.add(program.buffers().size());
  for (const Buffer& buffer : program.buffers()) hasher.add(buffer);
  hasher.add(program.outers().size());
  for (const OuterBuffer& buffer : program.outers())
    hasher.add(buffer.bytes ^ std::uint64_t{index(buffer.tile)} << 40 ^ (buffer.keep ? 1U : 0U));
  hasher.add(program.zone_of().size());
  for (const std::uint32_t zone : program.zone_of()) hasher.add(std::uint64_t{zone});
  hasher.add(program.exchanges().size());
  for (const Exchange& exchange : program.exchanges()) hasher.add(exchange);
  for (std::uint32_t zone = 0; zone < program.zones(); ++zone) hasher.add(program.steps(zone));
  return hasher.finish();
}

Fingerprint fingerprint(std::span<const PlacedCopy> copies) {
  std::vector<std::uint32_t> lowest;  // lowest used address, by tile
  const auto see = [&](const Port& port) {
    const std::size_t tile = index(port.tile);
    if (tile >= lowest.size()) lowest.resize(tile + 1, UINT32_MAX);
    lowest[tile] = std::min(lowest[tile], port.address.count());
  };
  for (const PlacedCopy& copy : copies) {
    see(copy.source);
    for (const Port& port : copy.destinations) see(port);
  }
  Hasher hasher;
  const auto add = [&](const Port& port) {
    hasher.add(index(port.tile), port.address.count() - lowest[index(port.tile)]);
  };
  for (const PlacedCopy& copy : copies) {
    hasher.add(copy.bytes, static_cast<std::uint32_t>(copy.destinations.size()));
    add(copy.source);
    for (const Port& port : copy.destinations) add(port);
  }
  return hasher.finish();
}

Fingerprint fingerprint(std::span<const std::byte> bytes) {
  Hasher hasher;
  hasher.add(bytes);
  return hasher.finish();
}

}  // namespace tessera::program
