#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/convnet/calls.h"
#include "sim/elf/codelet.h"

namespace tessera::convnet {

/// A program's tile code, and constants of its cores.
class CoreCode {
 public:
  explicit CoreCode(program::Program& program) : program_(program) {}

  [[nodiscard]] program::Vertex call(std::uint32_t node, std::string_view codelet,
                                     std::vector<Argument> arguments) const {
    return {TileId{node}, code_.in(program_, codelet), program::Executor::all_workers, 0,
            std::move(arguments)};
  }
  /// Constants of a core: equal ones share a buffer.
  program::Place constant(std::uint32_t node, std::vector<std::uint32_t> words) {
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

 private:
  program::Program& program_;
  elf::KernelCode code_{"convnet"};
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, program::BufferId> constants_;
};

}  // namespace tessera::convnet
