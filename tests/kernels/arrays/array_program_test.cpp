#include "kernels/arrays/array_program.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace tessera;
using namespace tessera::arrays;

/// ArrayProgram compresses lists of calls into loops.
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

/// The calls of a sequence with its loops, such as "a 3(b c)".
std::string text_of(const program::Sequence& sequence) {
  std::string text;
  for (const program::Step& step : sequence.steps) {
    if (!text.empty()) text += ' ';
    if (const auto* repeat = std::get_if<program::Repeat>(&step.action))
      text += fmt::format("{}({})", repeat->count, text_of(repeat->body));
    else
      text += std::get<program::ComputeSet>(step.action).name;
  }
  return text;
}

}  // namespace

TEST_SUITE("unit") {
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
