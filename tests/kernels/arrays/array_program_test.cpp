#include "kernels/arrays/array_program.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace tessera;
using namespace tessera::arrays;

/// Lists without loops become exchanges with turns and loops.
namespace {

using program::BufferId;
using program::Program;

BufferId add_buffer(Program& program, std::uint32_t node) {
  program::Buffer buffer{};
  buffer.tile = TileId{node};
  buffer.bytes = 1000;
  buffer.name = "bytes";
  return program.add_buffer(buffer);
}

std::vector<Stream> stream(BufferId from, std::uint32_t at, BufferId to, std::uint32_t into) {
  return {{"down", {{from, at}, 4, {}, {}}, {{{to, into}, 4, {}, {}}}}};
}

/// Where the exchanges begin to read and write, turn by turn.
std::vector<std::pair<std::uint64_t, std::uint64_t>> places_of(const Program& program) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
  for (const program::Exchange& exchange : program.exchanges()) {
    for (std::uint32_t start = 0; start < exchange.turns.count; ++start) {
      const program::OuterTurn turn = program::turn_of(exchange.turns, start);
      const auto at = [&](const program::Walk& walk) {
        std::uint64_t place = walk.place.offset;
        for (std::size_t i = 0; i < 3; ++i) place += turn.digits[i] * walk.steps[i];
        return place;
      };
      places.emplace_back(at(exchange.streams[0].source), at(exchange.streams[0].destinations[0]));
    }
  }
  return places;
}

/// Steps of a list with its loops: "s0 w0 3(s1 w1)".
std::string text_of(const program::Sequence& sequence) {
  std::string text;
  for (const program::Step& step : sequence.steps) {
    if (!text.empty()) text += ' ';
    if (const auto* repeat = std::get_if<program::Repeat>(&step.action))
      text += fmt::format("{}({})", repeat->count, text_of(repeat->body));
    else if (const auto* start = std::get_if<program::Start>(&step.action))
      text += "s" + std::to_string(static_cast<std::uint32_t>(start->exchange));
    else if (const auto* wait = std::get_if<program::Wait>(&step.action))
      text += "w" + std::to_string(static_cast<std::uint32_t>(wait->exchange));
    else
      text += std::get<program::ComputeSet>(step.action).name;
  }
  return text;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("transfers that repeat are exchanges with turns, in the order of the lists") {
    Program program(2);
    const BufferId from = add_buffer(program, 0);
    const BufferId to = add_buffer(program, 1);
    ArrayProgram lists(program);
    // Rows of an input, of which each of two groups takes all, into two buffers in turn; a last one
    // goes elsewhere.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> expected;
    for (std::uint32_t i = 0; i < 13; ++i)
      expected.emplace_back(i < 12 ? i % 6 * 40 : 999 - 4, i < 12 ? 100 + i % 2 * 50 : 20);
    for (const auto& [at, into] : expected) {
      const TransferId id = lists.transfer(
          0, "rows",
          stream(from, static_cast<std::uint32_t>(at), to, static_cast<std::uint32_t>(into)));
      for (const std::uint32_t node : {0U, 1U}) {
        lists.start(node, id);
        lists.wait(node, id);
      }
    }
    lists.finish();
    CHECK(places_of(program) == expected);
    CHECK(program.exchanges().size() == 2);
    CHECK(text_of(program.steps(0)) == "12(s0 w0) s1 w1");
    CHECK(text_of(program.steps(1)) == "12(s0 w0) s1 w1");
    validate(program);
  }

  TEST_CASE("a transfer whose places go back begins another exchange") {
    Program program(2);
    const BufferId from = add_buffer(program, 0);
    const BufferId to = add_buffer(program, 1);
    ArrayProgram lists(program);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> expected{{80, 0}, {40, 4}, {44, 8},
                                                                  {48, 4}, {52, 8}, {56, 100}};
    for (const auto& [at, into] : expected) {
      const TransferId id = lists.transfer(
          0, "rows",
          stream(from, static_cast<std::uint32_t>(at), to, static_cast<std::uint32_t>(into)));
      lists.start(0, id);
      lists.start(1, id);
      lists.wait(0, id);
      lists.wait(1, id);
    }
    lists.finish();
    CHECK(places_of(program) == expected);
    validate(program);
  }

  TEST_CASE("lists become loops in loops, and equal calls one compute set") {
    Program program(1);
    const BufferId memory = add_buffer(program, 0);
    ArrayProgram lists(program);
    const auto call = [&](const char* name, std::uint32_t word) {
      lists.call(
          0, name,
          {{TileId{0}, 0, program::Executor::all_workers, 0, {program::Place{memory}, word}}});
    };
    lists.mark(0, "layer");
    for (int outer = 0; outer < 3; ++outer) {
      call("a", 1);
      for (int inner = 0; inner < 4; ++inner) {
        call("b", 2);
        call("c", 3);
      }
    }
    call("a", 4);
    lists.finish();
    CHECK(text_of(program.steps(0)) == "layer 3(a 4(b c)) a");
  }
}
