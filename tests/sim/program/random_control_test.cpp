#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/sim/program/control_trace.h"
#include "tests/sim/program/random_program.h"

using namespace tessera;
using namespace tessera::program;
using namespace tessera::program::samples;

namespace {

/// The events that the control code of `tile` must produce, derived from the program alone: calls
/// with the address of their first argument, and exchanges.
void expect_events(const Program& program, const Images& images, const Sequence& sequence,
                   std::uint32_t tile, Decisions& decisions, std::vector<std::string>& events) {
  for (const Step& step : sequence.steps) {
    if (const auto* repeat = std::get_if<Repeat>(&step.action)) {
      for (std::uint32_t turn = 0; turn < repeat->count; ++turn) {
        expect_events(program, images, repeat->body, tile, decisions, events);
      }
      continue;
    }
    if (const auto* loop = std::get_if<While>(&step.action)) {
      expect_events(program, images, loop->test, tile, decisions, events);
      while (decisions.next()) {
        expect_events(program, images, loop->body, tile, decisions, events);
        expect_events(program, images, loop->test, tile, decisions, events);
      }
      continue;
    }
    if (const auto* set = std::get_if<ComputeSet>(&step.action)) {
      const Vertex& vertex = set->vertices.front();
      if (index(vertex.tile) != tile) continue;
      const BufferId first = std::get<Place>(vertex.arguments.front()).buffer;
      events.push_back(fmt::format("call work {}",
                                   images.buffer_address[static_cast<std::size_t>(first)].count()));
      continue;
    }
    const std::set<BufferId> touched = touched_by(step);
    const bool takes_part = std::any_of(touched.begin(), touched.end(), [&](BufferId id) {
      return index(program.buffer(id).tile) == tile;
    });
    if (takes_part) events.emplace_back("exch");
  }
}

std::vector<std::string> without_barriers(const std::vector<std::string>& events) {
  std::vector<std::string> kept;
  for (const std::string& event : events) {
    if (event.starts_with("exch")) kept.emplace_back("exch");
    if (event.starts_with("call")) kept.push_back(event);
  }
  return kept;
}

std::vector<std::string> barriers(const std::vector<std::string>& events) {
  std::vector<std::string> kept;
  for (const std::string& event : events) {
    if (event.starts_with("sync")) kept.push_back(event);
  }
  return kept;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("control code does in random programs what their steps say") {
    for (std::uint32_t seed = 0; seed < 1000; ++seed) {
      const Program program = ProgramMaker(seed).make();
      const Images images = compile(program, machine(kTiles), CountingExchanges());
      std::vector<std::string> first_barriers;
      for (std::uint32_t tile = 0; tile < kTiles; ++tile) {
        Decisions decisions(seed);
        const std::vector<std::string> events =
            ControlTrace(images.tiles[tile], kSram, [&] { return decisions.next(); }).run();
        Decisions same(seed);
        std::vector<std::string> expected;
        expect_events(program, images, program.main(), tile, same, expected);
        REQUIRE(without_barriers(events) == expected);
        if (tile == 0) first_barriers = barriers(events);
        REQUIRE(barriers(events) == first_barriers);
      }
    }
  }
}
