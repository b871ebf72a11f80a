#include <cstdio>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "kernels/gemm/vector_gemm.h"
#include "sim/config/presets.h"
#include "tests/kernels/run_workload.h"
#include "tests/run/timing_runs.h"

using namespace tessera;
using namespace tessera::gemm;

/// Products of types with vectors.
namespace {

MachineConfig xdna() { return config::load_machine("xdna1", config::machine_presets()); }

Options product(Type type, std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  Options options;
  options.product = {m, n, k};
  options.dtype = type;
  options.shift = type == Type::i8 ? 9 : type == Type::i16 ? 17 : 0;
  return options;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("fewer cores than fit work where that is faster") {
    const auto cycles = [](std::uint32_t array_rows) {
      Options options = product(Type::i16, 70, 33, 16);
      options.vectors = VectorPlan{};
      options.vectors->array_rows = array_rows;
      const std::string told = test::run_workload<VectorGemm>(
          options, xdna(), [](const RunResult& result, const VectorGemm& gemm) {
            return fmt::format(" {} {}", gemm.plan().at("array_rows").get<int>(),
                               result.time.total().count());
          });
      std::uint32_t rows = 0;
      std::uint64_t taken = 0;
      CAPTURE(told);
      REQUIRE(std::sscanf(told.c_str(), "passed %u %lu", &rows, &taken) == 2);
      return std::pair(rows, taken);
    };
    const auto [rows, fastest] = cycles(0);
    CHECK(rows == 3);
    for (const std::uint32_t pinned : {2U, 4U}) CHECK(cycles(pinned).second > fastest);
  }

  TEST_CASE("what a pinned plan leaves out is searched") {
    Options options = product(Type::i8, 256, 256, 256);
    options.vectors = VectorPlan{32, 0, 0, 0, 2, 0, true};
    MeasuredCosts costs(xdna());
    const auto plan = make_gemm(options, costs)->plan();
    CHECK(plan.at("rows") == 32);
    CHECK(plan.at("array_columns") == 2);
    CHECK(plan.at("array_rows") == 4);
    CHECK(plan.at("columns") >= 16);
    CHECK(plan.at("list_rows") == 2);
    CHECK(test::run_workload<VectorGemm>(options, xdna()) == "passed");
  }

  TEST_CASE("a timing run of a product on an array says what a full run says, of every type") {
    for (const char* type : {"i8", "i16", "bf16"}) {
      const test::Point point{"gemm",
                              "gemm",
                              {"machine=xdna1", fmt::format("workload.dtype={}", type),
                               "workload.m=100", "workload.n=80", "workload.k=300"},
                              {}};
      CHECK(test::same_without_values(point));
      CHECK(test::same_without_values(point, "--set run.measure=host"));
    }
  }

  TEST_CASE("a timing run of a product on tiles that exchange says what a full run says") {
    for (const char* parts : {"1", "3"}) {
      const test::Point point{
          "gemm",
          "gemm",
          {"machine.tiles=12", "machine.tile.matrix_unit.i8.outputs=8", "workload.dtype=i8",
           "workload.m=40", "workload.n=40", "workload.k=300",
           fmt::format("workload.plan.depth_parts={}", parts)},
          {}};
      CHECK(test::same_without_values(point));
    }
  }

  TEST_CASE("lists of the host's take no time of an array's where it is not measured") {
    const auto cycles = [](double latency_us) {
      MachineConfig machine = xdna();
      machine.host.latency_us = latency_us;
      return test::run_workload<VectorGemm>(product(Type::i8, 256, 16, 256), machine,
                                            {[](const RunResult& result, const VectorGemm&) {
                                              return fmt::format(" in {}",
                                                                 result.time.total().count());
                                            }});
    };
    CHECK(cycles(0) == cycles(24));
  }
}

TEST_SUITE("unit") {
  TEST_CASE("bf16 is rounded to nearest, ties to even") {
    CHECK(nearest_bf16(1) == 1);
    CHECK(nearest_bf16(1 + 0x1p-8F) == 1);
    CHECK(nearest_bf16(1 + 0x1p-7F + 0x1p-8F) == 1 + 0x1p-6F);
    CHECK(nearest_bf16(-1 - 0x1.01p-8F) == -1 - 0x1p-7F);
    CHECK(nearest_bf16(0x1p-133F) == 0x1p-133F);
    CHECK(nearest_bf16(0x1p-134F) == 0);
  }
}
