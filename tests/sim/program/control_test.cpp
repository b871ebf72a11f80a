#include "sim/program/control.h"

#include <algorithm>
#include <cstring>

#include <doctest/doctest.h>

#include "sim/program/listing.h"
#include "tests/sim/program/control_trace.h"
#include "tests/sim/program/samples.h"

using namespace tessera;
using namespace tessera::program;
using namespace tessera::program::samples;

namespace {

using Events = std::vector<std::string>;

Images compiled(const Program& program) {
  return compile(program, machine(program.tiles()), CountingExchanges());
}

/// A tile's events before the barrier that ends every program.
Events events_of(const Images& images, std::uint32_t tile) {
  Events events = ControlTrace(images.tiles[tile], kSram).run();
  if (!events.empty()) {
    CHECK(events.back() == "sync at the end");
    events.pop_back();
  }
  return events;
}

/// A vertex on tile 0.
Vertex call(std::uint32_t codelet, Executor executor, std::uint32_t argument,
            std::uint32_t worker = 0) {
  return {TileId{0}, codelet, executor, worker, {argument}};
}
/// A compute set of one supervisor call.
Step called(std::uint32_t argument) { return compute({call(0, Executor::supervisor, argument)}); }

/// One codelet of 8 bytes that are not code, run nine times by all workers.
constexpr const char* kListing = R"(work:
       0: 04040404  .word 0x04040404
       4: 04040404  .word 0x04040404
control:
       8: 00001437  lui s0, 1
       c: 94040413  addi s0, s0, -1728
      10: 00000137  lui sp, 0
      14: 14010113  addi sp, sp, 320
      18: fff00493  addi s1, zero, -1
      1c: 00900913  addi s2, zero, 9
# step 0: compute
      20: 0100307b  xctl 16
      24: 80040513  addi a0, s0, -2048
      28: 00000593  addi a1, zero, 0
      2c: 00a5a4fb  run a1, a0, s1
      30: 0010307b  xctl 1
      34: fe0906fb  bdnz s2, 0x20
      38: 0100307b  xctl 16
      3c: 0000307b  xctl 0
)";

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("an empty program ends at once") {
    const Images images = compiled(Program(2));
    CHECK(events_of(images, 0).empty());
    CHECK(images.tiles[0].code == images.tiles[1].code);
  }

  TEST_CASE("every tile enters every barrier, also those with nothing to do") {
    Program program(3);
    add_codelet(program, "work", 12);
    const BufferId a = add_buffer(program, 0, 8);
    const BufferId b = add_buffer(program, 1, 8);
    program.main().steps = {exchange(a, {b}, 8), compute({vertex(1, {b})}), compute({})};
    const Images images = compiled(program);
    const std::uint32_t at = images.buffer_address[static_cast<std::size_t>(b)].count();
    CHECK(events_of(images, 0) == Events{"sync 0", "exch 0 1", "sync 2"});
    CHECK(events_of(images, 1) ==
          Events{"sync 0", "exch 0 1", fmt::format("run work -1 {}", at), "join", "sync 2"});
    CHECK(events_of(images, 2) == Events{"sync 0", "sync 2"});
  }

  TEST_CASE("vertices run in order and only neighbouring single workers overlap") {
    Program program(1);
    add_codelet(program, "a", 4);
    add_codelet(program, "bb", 4);
    program.main().steps = {
        compute({call(0, Executor::one_worker, 10, 0), call(1, Executor::one_worker, 11, 5),
                 call(0, Executor::all_workers, 12), call(1, Executor::all_workers, 13),
                 call(1, Executor::supervisor, 14), call(0, Executor::supervisor, 15)})};
    CHECK(events_of(compiled(program), 0) == Events{"sync 0", "run a 0 10", "run bb 5 11", "join",
                                                    "run a -1 12", "join", "run bb -1 13", "join",
                                                    "call bb 14", "call a 15"});
  }

  TEST_CASE("a while branches on the word of its own tile") {
    Program program = with_codelet(2, "w", 4);
    add_buffer(program, 1, 24);
    program.main().steps = {loop_while(decision_words(program), {compute({})}, {compute({})})};
    const Images images = compiled(program);
    for (std::uint32_t tile = 0; tile < 2; ++tile) {
      std::uint32_t address = 0;
      REQUIRE(images.tiles[tile].segments.size() == 1);
      std::memcpy(&address, images.tiles[tile].segments[0].bytes.data(), sizeof address);
      CHECK(address == images.buffer_address[tile + 1].count());
    }
  }

  TEST_CASE("a loop whose body is beyond a branch's reach still counts") {
    Program program = with_codelet(1, "w", 4);
    std::vector<Step> body;
    for (std::uint32_t i = 0; i < 600; ++i) {
      body.push_back(compute({call(0, Executor::all_workers, i)}));
    }
    program.main().steps = {repeat(3, body)};
    const Events events = events_of(compiled(program), 0);
    CHECK(events.size() == 5400);  // sync, run, join
    CHECK(std::count(events.begin(), events.end(), "run w -1 599") == 3);
  }

  TEST_CASE("code beyond the reach of a jump still calls, loops and leaves") {
    Program program = with_codelet(1, "w", 4);
    std::vector<Step> body;
    constexpr std::uint32_t kCalls = 66'000;  // 16 bytes each, including their barriers
    for (std::uint32_t i = 0; i < kCalls; ++i) body.push_back(called(i % 7));
    program.main().steps = {loop_while(decision_words(program), {compute({})}, {repeat(2, body)}),
                            called(9)};
    MachineConfig large = machine(1);
    large.tile.sram_kib = 8192;
    const Images images = compile(program, large, CountingExchanges());
    CHECK(images.tiles[0].code->bytes.size() > (1U << 20U));
    bool taken = false;
    const Events events =
        ControlTrace(images.tiles[0], 8U << 20, [&] { return taken = !taken; }).run();
    CHECK(std::count(events.begin(), events.end(), "call w 9") == 1);
    CHECK(std::count_if(events.begin(), events.end(), [](const std::string& event) {
            return event.starts_with("call w");
          }) == 2 * kCalls + 1);
  }

  TEST_CASE("lists and blocks beyond the reach of an offset are found") {
    Program program = with_codelet(2, "w", 4);
    const BufferId a = add_buffer(program, 0, 8);
    const BufferId b = add_buffer(program, 1, 8);
    constexpr std::uint32_t kExchanges = 1100;
    for (std::uint32_t i = 0; i < kExchanges; ++i) {
      program.main().steps.push_back(exchange(a, {b}, 8));
      program.main().steps.push_back(called(i));
    }
    const Events events = events_of(compiled(program), 0);
    REQUIRE(events.size() == std::size_t{3} * kExchanges);
    for (std::uint32_t i = 0; i < kExchanges; ++i) {
      const auto* superstep = &events[std::size_t{3} * i];
      REQUIRE(superstep[0] == fmt::format("sync {}", 2 * i));
      REQUIRE(superstep[1] == fmt::format("exch {} {}", 2 * i, (i + 1) % 256));
      REQUIRE(superstep[2] == fmt::format("call w {}", i));
    }
  }

  TEST_CASE("stacks lie behind the code, one for each worker below the supervisor's") {
    Program program(1);
    add_codelet(program, "w", 20);
    program.main().steps = {compute({call(0, Executor::all_workers, 7)})};
    MachineConfig config = machine(1);
    config.tile.contexts = 4;
    config.tile.worker_stack_bytes = 96;
    config.tile.supervisor_stack_bytes = 128;
    const Images images = compile(program, config, CountingExchanges());
    const CodeImage& code = *images.tiles[0].code;
    CHECK(code.worker_stacks.count() >= code.bytes.size());
    CHECK(code.worker_stacks.count() < code.bytes.size() + 16);
    ControlTrace trace(images.tiles[0], kSram);
    trace.run();
    CHECK(trace.stack_pointer() == code.worker_stacks.count() + 4 * 96 + 128);
    CHECK(images.tiles[0].segments.front().address.count() == trace.stack_pointer());
  }

  TEST_CASE("control code is the expected instructions") {
    Program program(1);
    add_codelet(program, "work", 8);
    program.main().steps = {repeat(9, {compute({call(0, Executor::all_workers, 7)})})};
    const Images images = compiled(program);
    const CodeImage& code = *images.tiles[0].code;
    CHECK(list_code(code, images.steps) == kListing);
    CHECK(code.entry.count() == 8);
    CHECK(code.step_of(0) == kNoStep);
    CHECK(code.step_of(8 + 4 * 5) == kNoStep);
    CHECK(code.step_of(8 + 4 * 6) == 0);
    CHECK(code.symbol_of(4) == "work");
    CHECK(code.symbol_of(8) == "control");
  }
}
