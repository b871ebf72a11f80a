#include "models/memory/external_script.h"

#include <doctest/doctest.h>

#include "tests/kernels/small_machine.h"

using namespace tessera;

namespace {

using Kind = OuterScript::Step::Kind;

/// Two tiles work, then each stores `bytes`; tile 1 ends its work `early` cycles before tile 0.
std::uint64_t stored(std::uint64_t early, std::uint32_t bytes, std::uint64_t begin = 0,
                     const MachineConfig& machine = test::outside_machine(2, 1, true)) {
  OuterScript script;
  OuterScript::Transfer store{{1, 0, 1}, {}};
  for (std::uint32_t tile = 0; tile < 2; ++tile) {
    program::OuterEntry entry{};
    entry.address = tile * std::uint64_t{1} << 16;
    entry.row_bytes = bytes;
    entry.rows = 1;
    entry.outward = 1;
    store.loads.push_back({TileId{tile}, {entry}});
  }
  script.transfers = {store};
  script.early.push_back({0, early});
  script.steps = {
      {Kind::work, 0, 1000, true, 1}, {Kind::start, 0, 0, false}, {Kind::wait, 0, 0, false}};
  script.begin = begin;
  return script_cycles(machine, script);
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a tile that ends its work early moves its bytes while others work") {
    const std::uint64_t together = stored(0, 2048);
    const std::uint64_t alone = stored(0, 0);
    CHECK(alone == 1000);
    CHECK(stored(1000, 2048) < together - (together - alone) / 3);
    CHECK(stored(1000, 2048) > 1000 + (together - alone) / 3);
  }

  TEST_CASE("a script that begins later meets a memory that has been refreshed before") {
    MachineConfig machine = test::outside_machine(2, 1, true);
    CHECK(stored(0, 2048, 5000, machine) == stored(0, 2048, 0, machine));
    const std::uint64_t at_rest = stored(0, 2048, 0, machine);
    machine.external.dram.refi_clocks = 4000;
    machine.external.dram.rfc_clocks = 3000;
    CHECK(stored(0, 2048, 0, machine) == at_rest);
    CHECK(stored(0, 2048, 4000, machine) > at_rest + 1000);
  }

  TEST_CASE("a tile that moves nothing is waited for too") {
    OuterScript script;
    script.early.push_back({400, 0});
    script.steps = {{Kind::work, 0, 1000, false, 1}};
    CHECK(script_cycles(test::outside_machine(2, 1, true), script) == 1000);
  }
}
