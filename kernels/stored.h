#pragma once

#include <functional>
#include <string_view>

#include "kernels/codelet.h"
#include "sim/plan/description.h"

namespace tessera::kernels {

/// Pieces of what is stored in `from` come to `into` on the tile at hand.
template <class Pieces>
void pull(plan::Pulls& pulls, program::Place into, program::BufferId from, const Pieces& pieces) {
  for (const auto& piece : pieces)
    pulls.push_back({behind(into, piece.at), piece.tile, {from, piece.offset}, piece.bytes});
}
/// Its bytes [begin, end).
inline void pull(plan::Pulls& pulls, program::Place into, const EvenStorage& storage,
                 program::BufferId from, std::uint64_t begin, std::uint64_t end) {
  pull(pulls, into, from, storage.pieces(begin, end));
}

/// Bytes that all tiles of the machine hold evenly, and the array that they lie in.
struct Stored {
  /// Writes bytes from number `first` on.
  using Fill = std::function<void(std::uint64_t first, std::span<std::byte>)>;

  Stored() = default;
  Stored(plan::Description& description, std::string_view name, const EvenStorage& bytes,
         const Fill& fill, bool keep = false)
      : storage(bytes),
        array(description.array({name, [bytes](plan::Tile tile) { return bytes.bytes_on(tile); },
                                 keep,
                                 [bytes, fill](plan::Tile tile, std::span<std::byte> into) {
                                   fill(bytes.begin(tile), into);
                                 }})) {}

  [[nodiscard]] std::uint64_t bytes_on(plan::Tile tile) const { return storage.bytes_on(tile); }
  /// Bytes [begin, end) come to `into` on the tile at hand.
  void pull(Interval bytes, program::Place into, plan::Pulls& pulls) const {
    kernels::pull(pulls, into, storage, array, bytes.begin, bytes.end);
  }

  EvenStorage storage;
  program::BufferId array{};
};

}  // namespace tessera::kernels
