#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

/// Exact figures of a few runs. A change here is a change of the model: the commit that makes it
/// says why in its `Cycles:` line.
namespace {

struct Golden {
  const char* config;
  std::vector<const char*> options;
  std::uint64_t cycles, instructions, exchange_bytes;
};

const std::vector<Golden>& golden_runs() {
  static const std::vector<Golden> runs{
      {"matrix_unit", {"machine.tiles=4", "workload.n=96"}, 713, 3856, 0},
      {"stream", {"machine.tiles=4"}, 22703, 180356, 0},
      {"dpu_add", {}, 74039, 74021, 0},
      {"butterfly",
       {"machine.tiles=64", "workload.features=256", "workload.n=64"},
       5007,
       319680,
       106496},
      {"fft", {"machine.tiles=64", "workload.points=16384"}, 11574, 863552, 393216},
      {"latency", {"workload.chains=2"}, 111101, 443924, 0},
      {"gemm",
       {"machine.tiles=64", "workload.m=256", "workload.n=256", "workload.k=256"},
       11829,
       715648,
       1703936},
      {"gemm",
       {"machine.tiles=64", "workload.m=100", "workload.n=60", "workload.k=333",
        "workload.dtype=f32"},
       8152,
       413240,
       863232},
      {"spmm_static",
       {"machine.tiles=64", "workload.m=256", "workload.k=256", "workload.n=64"},
       3020,
       77632,
       131072},
      {"spmm_dynamic",
       {"machine.tiles=64", "workload.m=256", "workload.k=256", "workload.n=64",
        "workload.pattern=row_skewed"},
       6464,
       141216,
       468992},
      {"pixelfly",
       {"machine.tiles=64", "workload.m=256", "workload.k=256", "workload.n=64"},
       9142,
       390144,
       720896},
      {"spmm_tilewise",
       {"machine.tiles=64", "workload.m=256", "workload.k=256", "workload.n=256"},
       5207,
       193696,
       868352},
      {"mlp",
       {"machine.tiles=16", "workload.steps=2", "workload.batch=20",
        "workload.data.test_samples=20", "workload.layers[0].kind=butterfly",
        "workload.layers[0].outputs=40", "workload.data.width=8", "workload.data.height=8"},
       76086,
       531252,
       347200},
      {"mlp",
       {"machine.tiles=16", "workload.steps=2", "workload.batch=20",
        "workload.data.test_samples=20", "workload.layers[0].kind=pixelfly",
        "workload.layers[0].outputs=40", "workload.data.width=8", "workload.data.height=8"},
       100570,
       656681,
       821056},
  };
  return runs;
}

}  // namespace

TEST_SUITE("golden") {
  TEST_CASE("cycles, instructions and bytes are exactly those of the last change of the model") {
    for (const Golden& golden : golden_runs()) {
      const tessera::test::CommandFolder folder;
      std::string command =
          fmt::format("run {}/configs/runs/{}.json --out result", TESSERA_SOURCE, golden.config);
      for (const char* option : golden.options) command += fmt::format(" --set {}", option);
      CAPTURE(command);
      REQUIRE(folder.call(command).code == 0);
      const auto report = folder.json("result/report.json");
      CHECK(report.at("time").at("cycles") == golden.cycles);
      CHECK(report.at("work").at("instructions") == golden.instructions);
      CHECK(report.at("traffic").at("exchange_bytes") == golden.exchange_bytes);
    }
  }

  TEST_CASE("what a product does, as energy counts it, is exactly that of the last change") {
    const tessera::test::CommandFolder folder;
    REQUIRE(folder
                .call(fmt::format("run {}/configs/runs/gemm.json --out result --set "
                                  "machine.tiles=64 --set workload.m=256 --set workload.n=256 "
                                  "--set workload.k=256",
                                  TESSERA_SOURCE))
                .code == 0);
    const auto energy = folder.json("result/report.json").at("energy");
    CHECK(energy.at("work").at("matrix_f16") == 256 * 256 * 256 / 64);
    CHECK(energy.at("work").at("bytes_loaded") == 4737280);
    CHECK(energy.at("work").at("bytes_stored") == 2490368);
    CHECK(energy.at("work").at("exchange_byte_micrometres") == 2533556224);
    CHECK(energy.at("joules").get<double>() == doctest::Approx(3.32723e-05).scale(1e-30));
  }
}
