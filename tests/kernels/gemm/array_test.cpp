#include <cstdio>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "kernels/gemm/array_gemm.h"
#include "sim/config/presets.h"
#include "tests/kernels/run_workload.h"
#include "tests/refusal.h"
#include "tests/run/timing_runs.h"

using namespace tessera;
using namespace tessera::gemm;

/// Products of types with vectors on arrays of cores.
namespace {

constexpr Type kVectors[] = {Type::i8, Type::i16, Type::bf16};

MachineConfig xdna() { return config::load_machine("xdna1", config::machine_presets()); }

Options product(Type type, std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  Options options;
  options.product = {m, n, k};
  options.dtype = type;
  options.shift = type == Type::i8 ? 9 : type == Type::i16 ? 17 : 0;
  return options;
}

std::string error_of(const Options& options, const MachineConfig& machine = xdna()) {
  MeasuredCosts costs(machine);
  return test::refusal([&] { return make_gemm(options, costs); });
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("products of any size are exact to the bit on an array, as predicted") {
    for (const Type type : kVectors) {
      CAPTURE(static_cast<int>(type));
      CHECK(test::run_as_predicted<ArrayGemm>(product(type, 256, 256, 256), xdna(), 0.02) ==
            "passed");
      for (const auto& [m, n, k] :
           {Product{1, 1, 1}, Product{70, 33, 100}, Product{300, 130, 72}, Product{256, 16, 256},
            Product{256, 256, 16}, Product{7, 128, 16}, Product{161, 24, 56}})
        CHECK(test::run_as_predicted<ArrayGemm>(product(type, m, n, k), xdna(), 0.04) == "passed");
    }
  }

  TEST_CASE("streams of any rate are predicted, that of results too") {
    for (std::size_t slow = 0; slow < xdna().fabric.streams.size(); ++slow) {
      CAPTURE(slow);
      MachineConfig machine = xdna();
      machine.fabric.streams[slow].bytes_per_cycle = 0.5;
      for (const auto& [m, n, k] : {Product{150, 70, 40}, Product{400, 200, 16}})
        CHECK(test::run_as_predicted<ArrayGemm>(product(Type::i8, m, n, k), machine, 0.04) ==
              "passed");
    }
  }

  TEST_CASE("fewer cores than fit work where that is faster") {
    const auto cycles = [](std::uint32_t array_rows) {
      Options options = product(Type::i16, 70, 33, 16);
      options.array = ArrayPlan{};
      options.array->array_rows = array_rows;
      const std::string told = test::run_workload<ArrayGemm>(
          options, xdna(), [](const RunResult& result, const ArrayGemm& gemm) {
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

  TEST_CASE("pinned plans are as right, whether sums are kept whole or as results") {
    for (const Type type : kVectors)
      for (const bool whole : {true, false})
        for (const ArrayPlan& plan :
             {ArrayPlan{16, 16, 32, 4, 4, 1, whole}, ArrayPlan{32, 64, 64, 4, 2, 2, whole},
              ArrayPlan{48, 32, 128, 1, 3, 9, whole}}) {
          CAPTURE(static_cast<int>(type));
          CAPTURE(plan.rows);
          CAPTURE(whole);
          Options options = product(type, 200, 170, 256);
          options.array = plan;
          CHECK(test::run_workload<ArrayGemm>(options, xdna()) == "passed");
        }
  }

  TEST_CASE("what a pinned plan leaves out is searched") {
    Options options = product(Type::i8, 256, 256, 256);
    options.array = ArrayPlan{32, 0, 0, 0, 2, 0, true};
    MeasuredCosts costs(xdna());
    const auto plan = make_gemm(options, costs)->plan();
    CHECK(plan.at("rows") == 32);
    CHECK(plan.at("array_columns") == 2);
    CHECK(plan.at("array_rows") == 4);
    CHECK(plan.at("columns") >= 16);
    CHECK(plan.at("list_rows") == 2);
    CHECK(test::run_workload<ArrayGemm>(options, xdna()) == "passed");
  }

  TEST_CASE("arrays of other sizes and cores of other memory get plans that fit") {
    MachineConfig machine = xdna();
    machine.tile.sram_kib = 12;
    CHECK(test::run_workload<ArrayGemm>(product(Type::bf16, 128, 96, 200), machine) == "passed");
    machine = config::load_machine("aie2_3x3", config::machine_presets());
    CHECK(test::run_workload<ArrayGemm>(product(Type::i8, 128, 96, 200), machine) == "passed");
  }

  TEST_CASE("memory tiles may wait for each transfer, cores and DDR may not") {
    const MachineConfig machine = config::load_machine("aie2_3x3", config::machine_presets());
    const Options options = product(Type::i8, 300, 296, 200);
    MachineConfig waiting = machine;
    waiting.nodes[0].tile.overlap = false;
    CHECK(test::run_workload<ArrayGemm>(options, waiting) == "passed");
    waiting = machine;
    waiting.tile.overlap = false;
    CHECK(test::run_workload<ArrayGemm>(options, waiting)
              .starts_with("exit 2: machine.tile.overlap: found false, allowed true"));
    waiting = machine;
    waiting.nodes[1].tile.overlap = false;
    CHECK(test::run_workload<ArrayGemm>(options, waiting)
              .starts_with("exit 2: machine.nodes[1].tile.overlap: found false, allowed true"));
  }
}

TEST_SUITE("run") {
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

  TEST_CASE("lists of the host's take no time of an array's where it is not measured") {
    const auto cycles = [](double latency_us) {
      MachineConfig machine = xdna();
      machine.host.latency_us = latency_us;
      return test::run_workload<ArrayGemm>(
          product(Type::i8, 256, 16, 256), machine, {[](const RunResult& result, const ArrayGemm&) {
            return fmt::format(" in {}", result.time.total().count());
          }});
    };
    CHECK(cycles(0) == cycles(24));
  }
}

TEST_SUITE("unit") {
  TEST_CASE("types and plans that a machine lacks are refused") {
    CHECK(error_of(product(Type::f16, 64, 64, 64)) ==
          "workload.dtype: found f16, allowed i8, i16, bf16 with machine.fabric.kind streams");
    CHECK(error_of(product(Type::i8, 64, 64, 64),
                   config::load_machine("bow", config::machine_presets())) ==
          "workload.dtype: found i8, allowed f16, f32 with machine.fabric.kind scheduled");
    CHECK(error_of(product(Type::i16, 64, 64, 64),
                   config::load_machine("aie2_2x2", config::machine_presets())) ==
          "machine.tile.matrix_unit.i16.outputs: found 0, allowed 4: products of i16 are made on "
          "that unit");
    Options options = product(Type::i8, 64, 64, 64);
    options.array = ArrayPlan{24, 64, 64, 1, 1, 1, true};
    CHECK(error_of(options) == "workload.plan.rows: found 24, allowed multiples of 16");
    options.array = ArrayPlan{16, 24, 64, 1, 1, 1, true};
    CHECK(error_of(options) ==
          "workload.plan.columns: found 24, allowed multiples of 16 with dtype i8");
    options.array = ArrayPlan{16, 16, 16, 1, 1, 1, true};
    CHECK(error_of(options) ==
          "workload.plan.depth: found 16, allowed multiples of 16 from 32 on with dtype i8");
    options.array = ArrayPlan{16, 16, 32, 5, 1, 1, true};
    CHECK(error_of(options) == "workload.plan.array_rows: found 5, allowed 1 to the array's 4");
    options.array = ArrayPlan{256, 256, 256, 1, 1, 1, true};
    CHECK(error_of(options).starts_with("workload.plan: found tiles that take "));
    MachineConfig machine = xdna();
    machine.tile.sram_kib = 1;
    CHECK(error_of(product(Type::i8, 64, 64, 64), machine)
              .starts_with("a product of 64x64x64 i8: the smallest tiles take "));
  }

  TEST_CASE("bf16 is rounded to nearest, ties to even") {
    CHECK(nearest_bf16(1) == 1);
    CHECK(nearest_bf16(1 + 0x1p-8F) == 1);
    CHECK(nearest_bf16(1 + 0x1p-7F + 0x1p-8F) == 1 + 0x1p-6F);
    CHECK(nearest_bf16(-1 - 0x1.01p-8F) == -1 - 0x1p-7F);
    CHECK(nearest_bf16(0x1p-133F) == 0x1p-133F);
    CHECK(nearest_bf16(0x1p-134F) == 0);
  }
}
