#include "kernels/arrays/array.h"

#include <array>

#include <doctest/doctest.h>

#include "sim/base/errors.h"
#include "sim/config/config.h"
#include "sim/machine/nodes.h"
#include "tests/refusal.h"

using namespace tessera;

namespace {

constexpr std::array kAll{arrays::kActivations, arrays::kWeights, arrays::kResults, arrays::kHalo};

/// The preset's error if the class `streams` runs along `along`; empty if it is accepted.
std::string refusal(const char* preset, const char* streams, StreamConfig::Along along) {
  MachineConfig machine = config::load_machine(preset, config::machine_presets());
  machine.fabric.streams[*stream_number(machine, streams)].along = along;
  return test::refusal<KeyError>([&] { return arrays::array_of(machine, kAll, "gemm"); });
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("streams that do not lead where an array's programs send are refused by their key") {
    using Along = StreamConfig::Along;
    CHECK(refusal("aie2_4x4", "activations", Along::row) ==
          "machine.fabric.streams[0].along: found row, allowed any, column: gemm requires it for "
          "streams activations from memory to tile");
    CHECK(refusal("aie2_4x4", "weights", Along::column) ==
          "machine.fabric.streams[1].along: found column, allowed any, row: gemm requires it for "
          "streams weights from memory to tile");
    CHECK(refusal("aie2_4x4", "results", Along::row) ==
          "machine.fabric.streams[2].along: found row, allowed any, column: gemm requires it for "
          "streams results from tile to memory");
    CHECK(refusal("aie2_4x4", "halo", Along::column) ==
          "machine.fabric.streams[3].along: found column, allowed any: gemm requires it for "
          "streams halo from memory to memory");
  }

  TEST_CASE("streams that lead to all nodes serve as those along rows and columns do") {
    for (const char* const streams : kAll)
      CHECK(refusal("aie2_4x4", streams, StreamConfig::Along::any).empty());
  }
}
