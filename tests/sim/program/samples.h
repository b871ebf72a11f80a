#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/program/image.h"

/// Parts of small programs for the tests in this folder.
namespace tessera::program::samples {

/// Gives every participant a list of 8 bytes, plus 4 for each copy that it sends or receives.
class CountingExchanges : public ExchangeCompiler {
 public:
  [[nodiscard]] CompiledExchange compile(std::uint32_t exchange,
                                         std::span<const PlacedCopy> copies) const override {
    std::map<std::uint32_t, std::size_t> ends;
    for (const PlacedCopy& copy : copies) {
      ++ends[index(copy.source.tile)];
      for (const Port& port : copy.destinations) ++ends[index(port.tile)];
    }
    CompiledExchange compiled{.makespan = Cycle(copies.size())};
    for (const auto& [tile, count] : ends) {
      compiled.lists.push_back(
          {TileId{tile}, std::vector<std::byte>(8 + 4 * count, std::byte(exchange + 1))});
    }
    return compiled;
  }
  [[nodiscard]] Cycle cycles(std::span<const PlacedCopy> copies) const override {
    return Cycle(copies.size());
  }
};

inline MachineConfig machine(std::uint32_t tiles) { return {.tiles = tiles}; }

inline std::uint32_t add_codelet(Program& program, const std::string& name, std::size_t bytes) {
  return program.add_codelet({name, std::vector<std::byte>(bytes, std::byte(name.size()))});
}

inline Program with_codelet(std::uint32_t tiles, const std::string& name = "work",
                            std::size_t bytes = 8) {
  Program program(tiles);
  add_codelet(program, name, bytes);
  return program;
}

inline BufferId add_buffer(Program& program, std::uint32_t tile, std::uint32_t bytes) {
  return program.add_buffer(
      {.tile = TileId{tile}, .bytes = bytes, .contents = {}, .name = "sample"});
}

inline BufferId add_initialised(Program& program, std::uint32_t tile, std::uint32_t bytes) {
  const auto contents = [](std::span<std::byte>) {};
  return program.add_buffer(
      {.tile = TileId{tile}, .bytes = bytes, .contents = contents, .name = "initialised"});
}

inline BufferId add_kept(Program& program, std::uint32_t tile, std::uint64_t bytes) {
  return program.add_buffer(
      {.tile = TileId{tile}, .bytes = bytes, .keep = true, .contents = {}, .name = "kept"});
}

/// A vertex of codelet 0 with `buffers` as arguments.
inline Vertex vertex(std::uint32_t tile, const std::vector<BufferId>& buffers,
                     Executor executor = Executor::all_workers) {
  Vertex made{TileId{tile}, 0, executor, 0, {}};
  for (BufferId id : buffers) made.arguments.emplace_back(Place{id, 0});
  return made;
}

inline Step compute(std::vector<Vertex> vertices) {
  return {ComputeSet{"compute", std::move(vertices)}, true};
}

inline Step exchange(BufferId from, const std::vector<BufferId>& to, std::uint32_t bytes) {
  Copy copy{{from, 0}, bytes, {}};
  for (BufferId id : to) copy.destinations.push_back({id, 0});
  return {Exchange{"exchange", {copy}}, true};
}

/// One word on every tile, for the decisions of `loop_while`.
inline std::vector<Place> decision_words(Program& program) {
  std::vector<Place> words;
  for (std::uint32_t tile = 0; tile < program.tiles(); ++tile)
    words.push_back({add_buffer(program, tile, 4)});
  return words;
}

inline Step loop_while(std::vector<Place> decisions, std::vector<Step> test,
                       std::vector<Step> body) {
  return {While{"loop", {std::move(test)}, {std::move(body)}, std::move(decisions)}, true};
}

inline Step repeat(std::uint32_t count, std::vector<Step> body) {
  return {Repeat{count, {std::move(body)}}, true};
}

}  // namespace tessera::program::samples
