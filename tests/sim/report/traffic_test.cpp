#include <doctest/doctest.h>

#include "sim/report/report.h"

using namespace tessera;
using program::BufferId;

namespace {

program::Exchange exchange(std::uint32_t bytes, BufferId from, const std::vector<BufferId>& to) {
  program::Exchange made{"copy", {{{from, 0}, bytes, {}}}};
  for (const BufferId each : to) made.copies[0].destinations.push_back({each, 0});
  return made;
}

/// A loop of a superstep with an exchange and computing, and one with an exchange alone; then an
/// unmeasured exchange. They are exchanges 0, 1 and 2.
program::Program sample(std::uint32_t tiles) {
  program::Program program(tiles);
  std::vector<BufferId> buffers;
  for (std::uint32_t tile = 0; tile < tiles; ++tile) {
    program::Buffer buffer{};
    buffer.tile = TileId{tile};
    buffer.bytes = 64;
    buffers.push_back(program.add_buffer(buffer));
  }
  program::Sequence body;
  body.steps.push_back({exchange(8, buffers[0], {buffers[1], buffers[tiles - 1]})});
  body.steps.push_back({program::ComputeSet{"work", {}}});
  body.steps.push_back({exchange(16, buffers[1], {buffers[0]})});
  program.main().steps.push_back({program::Repeat{3, std::move(body)}});
  program.main().steps.push_back({exchange(32, buffers[0], {buffers[1]}), false});
  return program;
}

RunResult exchanged(const std::vector<std::uint32_t>& numbers) {
  RunResult result;
  for (const std::uint32_t number : numbers) result.steps.emplace_back().exchanges = {number};
  return result;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("traffic counts each exchange as often as it was measured") {
    const RunResult result = exchanged({0, 1, 0, 1, 0});
    CHECK(report::traffic_csv(sample(3), result) ==
          "from_tile,to_tile,tiles,bytes\n0,1,1,24\n0,2,1,24\n1,0,1,32\n");
    CHECK(report::traffic_csv(sample(3), exchanged({})) == "from_tile,to_tile,tiles,bytes\n");
  }

  TEST_CASE("many tiles are counted in groups") {
    CHECK(report::traffic_csv(sample(257), exchanged({0, 1})) ==
          "from_tile,to_tile,tiles,bytes\n0,0,3,24\n0,255,3,8\n");
  }
}
