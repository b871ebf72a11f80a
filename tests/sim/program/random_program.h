#pragma once

#include <cstdint>
#include <random>
#include <set>

#include "tests/sim/program/samples.h"

/// Random programs, for tests of invariants.
namespace tessera::program::samples {

constexpr std::uint32_t kTiles = 3;
constexpr std::uint32_t kBuffers = 15;

/// Decisions of a run's loops, true to continue: the n-th is the same for every tile.
class Decisions {
 public:
  explicit Decisions(std::uint32_t seed) : random_(seed) {}
  bool next() { return random_() % 5 < 2; }

 private:
  std::mt19937 random_;
};

/// Draws programs of nested loops, compute sets and exchanges over a few buffers.
class ProgramMaker {
 public:
  explicit ProgramMaker(std::uint32_t seed) : random_(seed) {}

  Program make() {
    Program program(kTiles);
    add_codelet(program, "work", 16);
    for (std::uint32_t i = 0; i < kBuffers; ++i) add_random_buffer(program, i % kTiles);
    program.main() = sequence(0);
    return program;
  }

 private:
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }

  void add_random_buffer(Program& program, std::uint32_t tile) {
    const std::uint32_t bytes = 4 + 4 * below(30);
    const std::uint32_t kind = below(6);
    if (kind == 0)
      add_initialised(program, tile, bytes);
    else if (kind == 1)
      add_kept(program, tile, bytes);
    else
      add_buffer(program, tile, bytes);
  }

  BufferId on_tile(std::uint32_t tile) {
    return BufferId{tile + kTiles * below(kBuffers / kTiles)};
  }

  Sequence sequence(std::uint32_t depth) {
    Sequence made;
    const std::uint32_t steps = 1 + below(5);
    for (std::uint32_t i = 0; i < steps; ++i) {
      if (depth < 3 && below(3) == 0) {
        made.steps.push_back({Repeat{below(4), sequence(depth + 1)}, true});
      } else if (depth < 3 && below(5) == 0) {
        made.steps.push_back({loop(depth)});
      } else {
        made.steps.push_back(step());
      }
    }
    return made;
  }

  While loop(std::uint32_t depth) {
    While made{"loop", sequence(depth + 1), {}, {}};
    made.test.steps.push_back(step());  // at least one
    if (below(4) != 0) made.body = sequence(depth + 1);
    for (std::uint32_t tile = 0; tile < kTiles; ++tile) made.decisions.push_back({on_tile(tile)});
    return made;
  }

  Step step() {
    const std::uint32_t tile = below(kTiles);
    if (below(2) == 0) {
      return compute({vertex(tile, {on_tile(tile), on_tile(tile)}, Executor::supervisor)});
    }
    return exchange(on_tile(tile), {on_tile((tile + 1) % kTiles)}, 4);
  }

  std::mt19937 random_;
};

/// The buffers that a compute set or exchange uses.
inline std::set<BufferId> touched_by(const Step& step) {
  std::set<BufferId> touched;
  if (const auto* set = std::get_if<ComputeSet>(&step.action)) {
    for (const Vertex& vertex : set->vertices) {
      for (const Argument& argument : vertex.arguments) {
        touched.insert(std::get<Place>(argument).buffer);
      }
    }
  } else {
    for (const Copy& copy : std::get<Exchange>(step.action).copies) {
      touched.insert(copy.source.buffer);
      for (Place destination : copy.destinations) touched.insert(destination.buffer);
    }
  }
  return touched;
}

}  // namespace tessera::program::samples
