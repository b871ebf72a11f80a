#include <doctest/doctest.h>

#include "sim/program/listing.h"
#include "tests/sim/program/samples.h"

using namespace tessera;
using namespace tessera::program;

namespace {

/// Three times: tile 0 sends 16 bytes of "sample" to tiles 1 and 2, which then call a codelet.
Program sample_program() {
  Program program(3);
  const std::uint32_t codelet = samples::add_codelet(program, "work", 8);
  const BufferId source = samples::add_initialised(program, 0, 64);
  std::vector<BufferId> into;
  for (const std::uint32_t tile : {1U, 2U}) {
    samples::add_buffer(program, tile, 8);
    into.push_back(samples::add_buffer(program, tile, 32));
  }
  Sequence body;
  body.steps.push_back({Exchange{"spread", {{{source, 8}, 16, {{into[0]}, {into[1], 16}}}}}});
  ComputeSet set{"work", {}};
  for (std::uint32_t i = 0; i < into.size(); ++i)
    set.vertices.push_back(
        {TileId{i + 1}, codelet, Executor::one_worker, 2, {Place{into[i], 4}, 7u}});
  body.steps.push_back({std::move(set), false});
  program.main().steps.push_back({Repeat{3, std::move(body)}});
  return program;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a tile's listing holds its arrays, its ends of transfers and its calls") {
    const Program program = sample_program();
    CHECK(tile_listing(program, TileId{0}) ==
          R"({"tile":0,"tiles":3}
{"array":"initialised","bytes":64,"category":"tensors","filled":true,"kept":false}
{"step":"1","repeat":3}
{"step":"1.1","exchange":"spread","sends":[{"of":"initialised+8","bytes":16,"to":[1,2]}],"receives":[]}
{"step":"1.2","measured":false,"compute":"work","calls":[]}
)");
    CHECK(tile_listing(program, TileId{2}) ==
          R"({"tile":2,"tiles":3}
{"array":"sample","bytes":8,"category":"tensors","filled":false,"kept":false}
{"array":"sample.1","bytes":32,"category":"tensors","filled":false,"kept":false}
{"step":"1","repeat":3}
{"step":"1.1","exchange":"spread","sends":[],"receives":[{"into":"sample.1+16","bytes":16,"from":0}]}
{"step":"1.2","measured":false,"compute":"work","calls":[{"codelet":"work","by":"one worker","worker":2,"arguments":["sample.1+4",7]}]}
)");
  }

  TEST_CASE("host transfers and loops on flags are listed") {
    Program program(1);
    const BufferId flag = samples::add_buffer(program, 0, 4);
    Sequence test, body;
    test.steps.push_back({ComputeSet{"look", {}}});
    body.steps.push_back(
        {Exchange{"feed",
                  {},
                  {},
                  kEveryStart,
                  HostTransfer{HostTransfer::Direction::read, {{{flag}, 4, [](auto, auto) {}}}}}});
    program.main().steps.push_back({While{"go", std::move(test), std::move(body), {{flag}}}});
    CHECK(tile_listing(program, TileId{0}) ==
          R"({"tile":0,"tiles":1}
{"array":"sample","bytes":4,"category":"tensors","filled":false,"kept":false}
{"step":"1","while":"go","decision":"sample"}
{"step":"1.test.1","compute":"look","calls":[]}
{"step":"1.1","host":"feed","direction":"read","pieces":[{"at":"sample","bytes":4}]}
)");
  }
}
