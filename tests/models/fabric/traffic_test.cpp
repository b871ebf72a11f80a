#include "models/fabric/traffic.h"

#include <doctest/doctest.h>

#include "models/fabric/descriptor.h"
#include "models/fabric/fabric.h"
#include "models/fabric/verify.h"
#include "sim/base/errors.h"
#include "tests/models/fabric/patterns.h"
#include "tests/refusal.h"

namespace tessera::fabric {
namespace {

using namespace patterns;

std::string message(const Copies& copies) {
  return test::refusal([&] { return gather_traffic(3, copies, true); });
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("overlapping destinations are an error that names tile and both copies") {
    const Copies copies = {{at(1, 0), 64, {at(5, 0x200)}},
                           {at(2, 0), 16, {at(4, 0), at(5, 0x23c)}}};
    CHECK(message(copies) ==
          "exchange 3: tile 5: destinations of copy 0 (64 bytes from tile 1 address 0x0 to 0x200) "
          "and copy 1 (16 bytes from tile 2 address 0x0 to 0x23c) overlap");
    CHECK(message({{at(1, 0), 60, {at(5, 0x200)}}, {at(2, 0), 16, {at(5, 0x23c)}}}).empty());
  }

  TEST_CASE("copies without bytes or destinations are ignored") {
    const Copies copies = {{at(0, 0), 0, {at(1, 0), at(1, 0)}}, {at(0, 0), 8, {}}};
    CHECK(gather_traffic(0, copies, true).streams.empty());
    CHECK(make_exchange_compiler({})->compile(0, copies).lists.empty());
  }

  TEST_CASE("ports move a multicast out once, and in once a pair that takes it together") {
    const Copies copies = {{at(0, 8), 8, {at(2, 0), at(3, 0), at(5, 0)}},
                           {at(1, 0), 4, {at(3, 8)}}};
    const program::PortBytes shared = make_exchange_compiler({})->compile(0, copies).ports;
    CHECK(shared.sent == Bytes(12));
    CHECK(shared.received == Bytes(2 * 8 + 4));
    FabricConfig apart;
    apart.pair_sharing = false;
    CHECK(make_exchange_compiler(apart)->compile(0, copies).ports.received == Bytes(3 * 8 + 4));
    CHECK(make_exchange_compiler(apart)->resource_usage(0, copies).ports.received ==
          Bytes(3 * 8 + 4));
  }

  TEST_CASE("the bound counts a shared stream on one port of its pair") {
    const Copies copies = {{at(4, 0), 400, {at(0, 0), at(1, 0)}},
                           {at(5, 0), 400, {at(0, 400), at(1, 400)}},
                           {at(6, 0), 80, {at(0, 800)}}};
    CHECK(traffic_bound(gather_traffic(0, copies, true), Ports({})).count() == 110);
    CHECK(traffic_bound(gather_traffic(0, copies, false), Ports({})).count() == 220);
  }

  TEST_CASE("an unknown kind of fabric is an error that lists the valid ones") {
    FabricConfig config{.kind = "hypercube"};
    CHECK_THROWS_WITH_AS(
        make_fabric(config),
        "machine.fabric.kind: found \"hypercube\", allowed: scheduled, ideal, streams", UserError);
    CHECK_THROWS_AS(make_exchange_compiler(config), UserError);
    config = {};
    config.send_bytes_per_cycle = 0;
    CHECK_THROWS_AS(make_fabric(config), UserError);
  }
}

}  // namespace tessera::fabric
