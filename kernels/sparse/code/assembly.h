#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>
#include <vector>

#include "kernels/layout.h"
#include "sim/elf/codelet.h"
#include "sim/program/program.h"

/// A program while it is put together.
namespace tessera::sparse {

using kernels::EvenStorage;
using program::BufferId;
using program::Place;

constexpr std::uint32_t word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

class Assembly {
 public:
  using Contents = std::function<void(std::span<std::byte>)>;
  /// Writes what lies from a byte on; called after the assembly is gone.
  using Fill = std::function<void(std::uint64_t first, std::span<std::byte>)>;

  Assembly(std::uint32_t tiles, std::uint32_t contexts) : contexts_(contexts), program_(tiles) {}

  [[nodiscard]] std::uint32_t contexts() const { return contexts_; }
  program::Program& program() { return program_; }

  BufferId buffer(std::uint64_t tile, std::uint64_t bytes, std::string_view name,
                  Contents contents = {}, bool keep = false) {
    return program_.add_buffer({TileId(word(tile)), word(bytes), 8, keep,
                                program::Category::tensors, std::move(contents), name});
  }
  /// A buffer of these bytes.
  template <class T>
  BufferId list(std::uint64_t tile, std::vector<T> list, std::string_view name) {
    const std::size_t bytes = std::max<std::size_t>(list.size() * sizeof(T), 8);
    return buffer(tile, bytes, name, [list = std::move(list)](std::span<std::byte> into) {
      std::memcpy(into.data(), list.data(), list.size() * sizeof(T));
    });
  }
  /// What tiles 0, 1, ... hold of it, by tile.
  std::vector<BufferId> stored(const EvenStorage& storage, std::string_view name,
                               const Fill& fill = {}) {
    std::vector<BufferId> buffers;
    for (std::uint32_t tile = 0; tile < storage.tiles(); ++tile) {
      Contents contents;
      if (fill) {
        contents = [fill, first = storage.begin(tile)](auto into) { fill(first, into); };
      }
      buffers.push_back(buffer(tile, storage.bytes_on(tile), name, std::move(contents)));
    }
    return buffers;
  }
  /// Of this folder, or of gemm's.
  std::uint32_t codelet(std::string_view name) {
    return program_.add_codelet(
        elf::embedded_codelet(name.starts_with("gemm_") ? "gemm" : "sparse/code", name));
  }
  template <class Action>
  void add_step(Action action, bool measured = true) {
    program_.main().steps.push_back({std::move(action), measured});
  }

 private:
  std::uint32_t contexts_;
  program::Program program_;
};

/// Copies bytes [begin, end) of what is stored in `from`, by tile; `destinations` tells where those
/// from an offset on go.
template <class Destinations>
void gather(program::Exchange& exchange, const EvenStorage& storage,
            const std::vector<BufferId>& from, std::uint64_t begin, std::uint64_t end,
            const Destinations& destinations) {
  for (const auto& piece : storage.pieces(begin, end)) {
    exchange.copies.push_back(
        {{from[piece.tile], piece.offset}, piece.bytes, destinations(piece.at)});
  }
}

/// Copies what begins at `from` to bytes [begin, end) of what is stored in `into`, by tile.
inline void scatter(program::Exchange& exchange, const Place& from, const EvenStorage& storage,
                    const std::vector<BufferId>& into, std::uint64_t begin, std::uint64_t end) {
  for (const auto& piece : storage.pieces(begin, end)) {
    exchange.copies.push_back(
        {{from.buffer, from.offset + piece.at}, piece.bytes, {{into[piece.tile], piece.offset}}});
  }
}

}  // namespace tessera::sparse
