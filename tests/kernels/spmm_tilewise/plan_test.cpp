#include "kernels/spmm_tilewise/plan.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "kernels/spmm_tilewise/spmm_tilewise.h"
#include "tests/kernels/run_workload.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::spmm_tilewise;

namespace {

MachineConfig planned_machine(std::uint32_t tiles, std::uint32_t sram_kib = 64) {
  return test::small_machine(tiles, sram_kib);
}

Options options(std::uint32_t m, std::uint32_t k, std::uint32_t n, double sparsity) {
  Options result{.m = m};
  result.weights.k = k;
  result.weights.n = n;
  result.weights.pruning.sparsity = sparsity;
  result.weights.pruning.granularity = 24;
  return result;
}

/// Largest sum of costs on a tile; fails unless every panel of every group is assigned once.
std::uint64_t makespan(const std::vector<GroupCost>& costs, std::uint32_t panels,
                       std::uint32_t tiles) {
  const std::vector<Job> jobs = assign(costs, panels, tiles);
  std::vector<std::uint64_t> load(tiles, 0);
  std::vector<std::vector<std::uint32_t>> times(costs.size(), std::vector<std::uint32_t>(panels));
  for (const Job& job : jobs) {
    CHECK(job.machine < tiles);
    CHECK(job.panels.size() > 0);
    load.at(job.machine) += costs[job.group].fixed + job.panels.size() * costs[job.group].panel;
    for (std::uint64_t p = job.panels.begin; p < job.panels.end; ++p) ++times[job.group].at(p);
  }
  for (const auto& of_group : times) {
    CHECK(std::all_of(of_group.begin(), of_group.end(), [](std::uint32_t t) { return t == 1; }));
  }
  return *std::max_element(load.begin(), load.end());
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("every panel of every group is dealt once, tiles in proportion to the work") {
    CHECK(makespan({{0, 10}, {0, 10}}, 12, 8) == 30);
    CHECK(makespan({{0, 30}, {0, 10}}, 12, 8) == 60);  // six tiles and two tiles
    CHECK(makespan({{5, 10}}, 7, 3) == 5 + 40);        // a pair of tiles; the third has no partner
    CHECK(makespan({{5, 10}}, 1, 9) == 15);
    CHECK(makespan({{0, 3}, {0, 2}, {0, 2}}, 4, 2) == 16);  // more groups than tiles
    CHECK(makespan({{0, 3}, {0, 2}, {0, 2}}, 4, 1) == 28);
    CHECK(makespan({{0, 3}, {0, 2}, {0, 2}}, 4, 3) == 12);
    CHECK(assign({}, 4, 3).empty());
    for (std::uint32_t tiles = 1; tiles < 40; ++tiles) {
      CAPTURE(tiles);
      makespan({{3, 5}, {0, 17}, {40, 1}, {7, 7}, {2, 9}}, 11, tiles);
    }
  }

  TEST_CASE("a pinned plan is dealt to the same tiles whichever rate is faster") {
    Options pinned = options(448, 256, 96, 0.5);
    pinned.weights.dtype = program::Type::f32;
    pinned.weights.pruning.method = Method::tw_2d;
    pinned.weights.pruning.granularity = 64;
    pinned.plan = {.parts = 1, .cuts = 1};
    const auto jobs = [&](std::uint32_t send, std::uint32_t receive) {
      MachineConfig machine = planned_machine(12, 624);
      machine.fabric.send_bytes_per_cycle = send;
      machine.fabric.receive_bytes_per_cycle = receive;
      const auto workload = test::planned<SpmmTilewise>(pinned, machine);
      std::string found;
      for (const Job& job : workload.chosen_plan().jobs)
        found += fmt::format("{}: {} from {}, ", job.machine, job.group, job.panels.begin);
      return found;
    };
    CHECK(jobs(1, 37) == jobs(1, 1));
    CHECK(jobs(37, 1) == jobs(1, 1));
  }

  TEST_CASE("a plan that multiplies no row whole for its single elements can be pinned") {
    Options tew = options(50, 61, 77, 0.6);
    tew.weights.pruning.method = Method::tew;
    for (const double overlay : {0.002, 0.01, 0.1}) {
      CAPTURE(overlay);
      tew.weights.pruning.overlay = overlay;
      const auto free = test::planned<SpmmTilewise>(tew, planned_machine(30));
      Options pinned = tew;
      pinned.plan.row_singles = free.chosen_plan().row_singles;
      CHECK(pinned.plan.row_singles != 0);
      MachineConfig other = planned_machine(30);
      other.fabric.receive_bytes_per_cycle = 64;
      const auto again = test::planned<SpmmTilewise>(pinned, other);
      CHECK(again.chosen_plan().row_singles == pinned.plan.row_singles);
    }
  }

  TEST_CASE("rows of many single elements are multiplied whole, the others walked") {
    Options tew = options(50, 61, 77, 0.6);
    tew.weights.pruning.method = Method::tew;
    tew.weights.pruning.overlay = 0.1;
    for (const std::uint32_t row_singles : {1U, 3U, 1000U}) {
      CAPTURE(row_singles);
      tew.plan.row_singles = row_singles;
      const auto workload = test::planned<SpmmTilewise>(tew, planned_machine(30));
      CHECK(workload.chosen_plan().row_singles == row_singles);
      std::uint64_t walked = 0;
      for (const Group& group : workload.chosen_plan().groups) {
        const ColumnTile& tile = workload.pattern().tiles[group.tile];
        const auto singles = singles_by_row(workload.pattern(), tile, 61);
        for (std::uint32_t row = 0; row < 61; ++row) {
          if (singles[row] >= row_singles)
            CHECK(std::binary_search(group.rows.begin(), group.rows.end(), row));
        }
        for (const std::uint32_t row : group.overlay.rows)
          CHECK(!std::binary_search(group.rows.begin(), group.rows.end(), row));
        walked += group.overlay.row.size();
      }
      CHECK((walked == 0) == (row_singles == 1));
    }
  }
}
