#include "kernels/convnet/core_code.h"

#include <cstring>

namespace tessera::convnet {

program::Place CoreCode::constant(std::uint32_t node, std::vector<std::uint32_t> words) {
  const auto [entry, is_new] = constants_.try_emplace({node, words});
  if (is_new) {
    program::Buffer buffer{};
    buffer.tile = TileId{node};
    buffer.bytes = round_up(words.size() * sizeof words[0], std::size_t{buffer.align});
    buffer.category = program::Category::arguments;
    buffer.name = "constants";
    buffer.contents = [words = std::move(words)](std::span<std::byte> into) {
      std::memcpy(into.data(), words.data(), words.size() * sizeof words[0]);
    };
    entry->second = program_.add_buffer(std::move(buffer));
  }
  return {entry->second};
}

}  // namespace tessera::convnet
