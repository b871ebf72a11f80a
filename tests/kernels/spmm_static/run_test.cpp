#include <bit>

#include <doctest/doctest.h>

#include "kernels/spmm_static/spmm_static.h"
#include "sim/base/errors.h"
#include "tests/folder.h"
#include "tests/kernels/right.h"
#include "tests/kernels/small_machine.h"
#include "tests/kernels/unit_shapes.h"

using namespace tessera;
using namespace tessera::spmm_static;

namespace {

using test::small_machine;

using test::kTypes;
using test::Types;
constexpr std::uint32_t kBlocks[] = {1, 4, 8, 16};

enum class Covered { all, each };

/// Runs the product with all blocks and types, or each once, several widths and machines.
void check_all(Options options, std::initializer_list<std::uint32_t> widths,
               Covered covered = Covered::all) {
  for (const std::uint32_t block : kBlocks) {
    for (const Types& types : kTypes) {
      if (covered == Covered::each && std::countr_zero(block) % 3 != &types - kTypes) continue;
      for (const std::uint32_t n : widths) {
        options.weights.block = block;
        options.weights.dtype = types.input;
        options.partials = types.partial;
        options.n = n;
        const std::uint32_t tiles = n % 2 == 0 ? 12 : 7;
        CHECK(test::run_workload<SpmmStatic>(options, small_machine(tiles, 128)) == "passed");
      }
    }
  }
}

void check_file(const std::string& text) {
  const test::Folder folder{{"w.mtx", "%%MatrixMarket matrix coordinate " + text}};
  Options options;
  options.weights.matrix = folder.file("w.mtx");
  check_all(options, {1, 10}, Covered::each);
}

Options seeded(std::uint32_t m, std::uint32_t k, double density) {
  Options options;
  options.weights = {.m = m, .k = k, .density = density};
  return options;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("points of the list `right` give the right results") {
    test::check_right("spmm_static");
  }

  TEST_CASE("equal rows are right though their roundings repeat each other") {
    std::string text = "%%MatrixMarket matrix coordinate real general\n128 128 16384\n";
    for (int row = 1; row <= 128; ++row)
      for (int column = 1; column <= 128; ++column) text += fmt::format("{} {} 1\n", row, column);
    const test::Folder folder{{"w.mtx", text}};
    Options options;
    options.weights.matrix = folder.file("w.mtx");
    options.weights.dtype = Type::f32;
    options.n = 4;
    CHECK(test::run_workload<SpmmStatic>(options, small_machine(16)) == "passed");
  }

  TEST_CASE("patterns without blocks give zeros") {
    Options options = seeded(40, 70, 0);
    check_all(options, {5});
    options.layout = sparse::Layout::natural;
    check_all(options, {8});
  }

  TEST_CASE("a single nonzero, empty rows and one dense row give the right sums") {
    check_file("real general\n39 38 1\n25 37 -2.5\n");
    check_file("real general\n39 38 3\n1 1 1\n25 37 -2.5\n25 38 3\n");
    std::string dense = "real general\n40 40 41\n30 3 0.125\n";
    for (int column = 1; column <= 40; ++column) {
      dense += fmt::format("17 {} {}\n", column, column - 20.5);
    }
    check_file(dense);
  }

  TEST_CASE("symmetric, skew-symmetric and pattern files give the right sums") {
    check_file("real symmetric\n6 6 4\n1 1 2\n3 1 -1\n6 2 0.5\n5 5 4\n");
    check_file("integer skew-symmetric\n6 6 2\n3 1 -1\n6 2 5\n");
    check_file("pattern general\n6 4 3\n1 4\n2 2\n6 1\n");
    check_file("pattern symmetric\n6 6 3\n1 1\n4 2\n6 1\n");
  }

  TEST_CASE("rows without blocks hold no tile up") {
    Options options = seeded(400, 32, 1.0 / 50);
    options.weights.block = 16;
    options.weights.dtype = Type::f32;
    options.partials = Type::f32;
    options.plan = {Algorithm::best, 3, 1, Dealing::rows};
    options.n = 100;
    const std::string answer = test::run_workload<SpmmStatic>(
        options, small_machine(12, 128), [](const RunResult& result, const SpmmStatic&) {
          return fmt::format(" {}", result.max_tile_sent.count());
        });
    REQUIRE(answer.starts_with("passed "));
    constexpr std::uint64_t kRowBytes = 400;  // of 100 columns, f32; 144 of a part's 36
    CHECK(std::stoul(answer.substr(7)) <= (400 + 32) * kRowBytes / 12 + std::uint64_t{16} * 144);
  }

  TEST_CASE("a W whose values all tiles together do not hold is brought in parts") {
    Options options;
    options.weights = {.m = 400, .k = 400, .block = 16, .density = 0.6, .dtype = Type::f16};
    options.n = 40;
    options.external = true;
    MachineConfig machine = test::outside_machine(4, 2, true);
    machine.tile.sram_kib = 32;
    const auto parts = [](const RunResult& /*result*/, const SpmmStatic& product) {
      return fmt::format(" in {} parts", product.plan().at("rounds").at("m").get<std::uint32_t>());
    };
    const std::string said = test::run_workload<SpmmStatic>(options, machine, {parts});
    CHECK((said == "passed in 2 parts" || said == "passed in 4 parts"));
  }

  TEST_CASE("a W without blocks gives zeros, operands outside or not") {
    Options options = seeded(64, 64, 1e-9);
    options.external = true;
    CHECK(test::run_workload<SpmmStatic>(options, test::outside_machine(4, 2, true)) == "passed");
  }
}
