#include "kernels/spmm_static/plan.h"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "kernels/spmm_static/spmm_static.h"
#include "models/fabric/fabric.h"
#include "sim/base/errors.h"
#include "sim/program/image.h"
#include "tests/kernels/lone_codelet.h"

using namespace tessera;
using namespace tessera::spmm_static;

namespace {

MachineConfig small_machine(std::uint32_t tiles, std::uint32_t sram_kib = 64) {
  MachineConfig machine;
  machine.name = "small";
  machine.tiles = tiles;
  machine.tile.sram_kib = sram_kib;
  return machine;
}

sparse::BlockMatrix random_matrix(std::uint32_t m, std::uint32_t k, double density,
                                  std::uint64_t seed) {
  sparse::WeightOptions weights;
  weights.m = m;
  weights.k = k;
  weights.density = density;
  weights.seed = seed;
  return sparse::make_weights(weights);
}

/// Adds one to each row and pass that the group's workers say they do.
void count(const RowGroup& group, std::uint32_t passes, std::vector<std::uint32_t>& times) {
  for (const WorkerShare& share : group.workers) {
    for (std::uint32_t r = 0; r < share.rows; ++r) {
      for (std::uint32_t p = 0; p < share.passes; ++p) {
        times.at((group.first_row + share.first_row + r) * passes + share.first_pass + p) += 1;
      }
    }
  }
}

/// What is wrong with a plan, or nothing.
void check_plan(const Plan& plan, const sparse::BlockMatrix& w, std::uint32_t n,
                std::uint32_t element_bytes, const MachineConfig& machine) {
  CHECK(plan.tiles() <= machine.tiles);
  CHECK(plan.slices * plan.slice_columns >= n);
  const std::uint32_t passes = plan.slice_columns * element_bytes / kPassBytes;
  CHECK(passes * kPassBytes == plan.slice_columns * element_bytes);
  std::vector<std::uint32_t> times(std::size_t{w.rows} * passes, 0);
  for (const RowGroup& group : plan.groups) {
    count(group, passes, times);
    CHECK(group.workers.size() == machine.tile.contexts);
    const auto at = [&](std::uint32_t row) {
      return w.column.begin() + static_cast<std::ptrdiff_t>(w.row_begin[row]);
    };
    const std::set<std::uint32_t> named(at(group.first_row), at(group.first_row + group.rows));
    CHECK(std::equal(named.begin(), named.end(), group.needed.begin(), group.needed.end()));
  }
  CHECK(std::all_of(times.begin(), times.end(), [](std::uint32_t t) { return t == 1; }));
}

/// Slots of one worker on `rows` rows of `nonzeros` nonzeros each in `passes` column passes.
std::uint64_t slots(const char* codelet, std::uint32_t rows, std::uint32_t nonzeros,
                    std::uint32_t passes) {
  test::LoneCodelet lone("spmm_static", codelet);
  constexpr std::uint32_t kArguments = test::LoneCodelet::kData;
  constexpr std::uint32_t kIndices = kArguments + 0x1000;
  constexpr std::uint32_t kX = kArguments + 0x4000;
  constexpr std::uint32_t kY = kArguments + 0x8000;
  const std::uint32_t words[] = {
      kX, kY, passes * kPassBytes, kIndices, kArguments + 0x2000, rows, passes, 0, 0};
  for (std::uint32_t i = 0; i < std::size(words); ++i) lone.put(kArguments + 4 * i, words[i]);
  std::uint32_t at = kIndices;
  for (std::uint32_t row = 0; row < rows; ++row) {
    lone.put(at, static_cast<std::uint16_t>(nonzeros));
    at += 2 + 2 * nonzeros;  // all name row 0 of X
  }
  return lone.slots(kArguments);
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("every row of every slice is done once, from the rows of X that it names") {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      const auto m = static_cast<std::uint32_t>(1 + seed * 37 % 90);
      const auto n = static_cast<std::uint32_t>(1 + seed * 11 % 60);
      const auto tiles = static_cast<std::uint32_t>(1 + seed * 5 % 30);
      const double density = seed % 4 == 0 ? 0 : 0.4 / static_cast<double>(seed);
      const sparse::BlockMatrix w = random_matrix(m, 70, density, seed);
      for (const std::uint32_t element_bytes : {2U, 4U}) {
        CAPTURE(seed);
        CAPTURE(element_bytes);
        const MachineConfig machine = small_machine(tiles);
        check_plan(make_plan(w, n, element_bytes, machine, {}), w, n, element_bytes, machine);
      }
    }
  }

  TEST_CASE("a plan fits the tiles however small they are, or is refused") {
    Options options;
    options.weights.m = 200;
    options.weights.k = 150;
    options.weights.density = 0.2;
    options.n = 40;
    for (const std::uint32_t sram_kib : {20U, 24U, 32U, 64U}) {
      CAPTURE(sram_kib);
      const MachineConfig machine = small_machine(30, sram_kib);
      const SpmmStatic workload(options, machine);
      const auto exchanges = fabric::make_exchange_compiler(machine.fabric);
      CHECK_NOTHROW(program::compile(workload.build(), machine, *exchanges));
    }
    CHECK_THROWS_AS(SpmmStatic(options, small_machine(2, 16)), UserError);
  }

  TEST_CASE("pinned cuts are taken") {
    const sparse::BlockMatrix w = random_matrix(60, 70, 0.2, 1);
    const MachineConfig machine = small_machine(24);
    const Plan plan = make_plan(w, 40, 4, machine, {3, 5});
    CHECK(plan.slices == 3);
    CHECK(plan.groups.size() == 5);
    check_plan(plan, w, 40, 4, machine);
    CHECK(make_plan(w, 40, 4, machine, {0, 5}).groups.size() == 5);
    CHECK(make_plan(w, 40, 4, machine, {2, 0}).slices == 2);
    CHECK_THROWS_AS(make_plan(w, 40, 4, machine, {11, 0}), UserError);
    CHECK_THROWS_AS(make_plan(w, 40, 4, machine, {5, 5}), UserError);
  }

  TEST_CASE("the codelets take the slots that the planner counts with") {
    for (const char* codelet : {"spmm_rows_f16", "spmm_rows_f32"}) {
      CAPTURE(codelet);
      for (const std::uint32_t rows : {1U, 2U, 7U}) {
        for (const std::uint32_t nonzeros : {2U, 3U, 20U}) {
          for (const std::uint32_t passes : {1U, 2U, 5U}) {
            CAPTURE(rows);
            CAPTURE(nonzeros);
            CAPTURE(passes);
            CHECK(slots(codelet, rows, nonzeros, passes) ==
                  worker_slots(rows, std::uint64_t{rows} * nonzeros, passes));
          }
        }
      }
      CHECK(slots(codelet, 4, 1, 3) == worker_slots(4, 4, 3) - 4 * 3);
      CHECK(slots(codelet, 4, 0, 3) < worker_slots(4, 0, 3));
    }
  }
}
