#include "sim/report/tile_steps.h"

#include <random>

#include <doctest/doctest.h>

#include "sim/base/errors.h"
#include "tests/folder.h"

using namespace tessera;

namespace {

TileSteps random_steps(std::uint32_t tiles, std::uint64_t rows, std::uint64_t supersteps_a_row) {
  std::mt19937 random(11);
  TileSteps steps{tiles, supersteps_a_row, {}};
  for (std::size_t i = 0; i < TileSteps::kParts * tiles * rows; ++i) {
    steps.cycles.push_back(static_cast<std::uint32_t>(random() % 300));
  }
  return steps;
}

report::RunFolder folder_of(const TileSteps& steps, std::uint64_t supersteps) {
  std::string csv = "cycles\n";
  for (std::uint64_t i = 0; i < supersteps; ++i) csv += "1000\n";
  return {"", {}, report::parse_table(csv, "steps.csv", {}), {}, {}, {}, steps};
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("tile_steps.npy comes back, with as many supersteps a row as its rows tell") {
    const test::Folder folder;
    for (const std::uint64_t supersteps : {7U, 8U, 25U, 32U}) {
      const TileSteps steps = random_steps(3, ceil_div<std::uint64_t>(supersteps, 8), 8);
      const std::string file = folder.write("steps.npy", report::tile_steps_npy(steps));
      const TileSteps back = report::read_tile_steps(file, 3, supersteps);
      CHECK(back.cycles == steps.cycles);
      CHECK(ceil_div(supersteps, back.supersteps_a_row) == steps.rows());
      CHECK_THROWS_AS(report::read_tile_steps(file, 4, supersteps), UserError);
      CHECK_THROWS_AS(report::read_tile_steps(file, 3, steps.rows() - 1), UserError);
    }
    CHECK(report::tile_steps_npy({}).empty());
  }

  TEST_CASE("five rows cannot be of eleven supersteps") {
    const test::Folder folder;
    const std::string file =
        folder.write("rows.npy", report::tile_steps_npy(random_steps(2, 5, 1)));
    CHECK_THROWS_AS(report::read_tile_steps(file, 2, 11), UserError);
    CHECK(report::read_tile_steps(file, 2, 10).supersteps_a_row == 2);
  }

  TEST_CASE("the page's part is bounded: rows are added up until it fits") {
    const report::RunFolder run = folder_of(random_steps(50, 64, 1), 64);
    const auto whole = report::pack_tile_steps(run, 1'000'000);
    CHECK(whole["rows"] == 64);
    CHECK(whole["supersteps_a_row"] == 1);
    std::size_t bytes = 0;
    for (const auto& plane : whole["planes"]) bytes += plane.get<std::string>().size();
    const auto fitted = report::pack_tile_steps(run, bytes / 3);
    CHECK(fitted["supersteps_a_row"] == 4);
    CHECK(fitted["rows"] == 16);
    CHECK(report::pack_tile_steps(folder_of({}, 64), 1'000'000).is_null());
  }
}
