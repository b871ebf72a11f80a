#include <cstring>

#include <doctest/doctest.h>

#include "kernels/spmm_static/spmm_static.h"
#include "sim/config/presets.h"
#include "tests/folder.h"
#include "tests/kernels/run_workload.h"
#include "tests/refusal.h"

using namespace tessera;
using namespace tessera::spmm_static;

/// Block-sparse products of types with vectors.
namespace {

MachineConfig machine_of(const char* name) {
  return config::load_machine(name, config::machine_presets());
}

Options product(Type type, std::uint32_t m, std::uint32_t k, std::uint32_t n, std::uint32_t block,
                double density) {
  Options options;
  options.weights = {.m = m, .k = k, .block = block, .density = density, .dtype = type};
  options.n = n;
  options.shift = type == Type::i8 ? 9 : type == Type::i16 ? 17 : 0;
  return options;
}

std::string error_of(const Options& options, const char* machine = "xdna1") {
  MeasuredCosts costs(machine_of(machine));
  return test::refusal([&] { return make_spmm_static(options, costs); });
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("a plan for an array as it is printed can be pinned") {
    Options options = product(Type::i16, 96, 200, 80, 8, 0.3);
    MeasuredCosts costs(machine_of("xdna1"));
    const auto searched = make_spmm_static(options, costs);
    const auto plan = searched->plan();
    const auto number = [&](const char* key) { return plan.at(key).get<std::uint32_t>(); };
    options.vectors =
        gemm::KeptPlan{{number("rows"), number("columns"), number("depth"), number("array_rows"),
                        number("array_columns"), number("list_rows"), true}};
    const auto pinned = make_spmm_static(options, costs);
    CHECK(pinned->plan() == plan);
    CHECK(pinned->prediction().cycles == searched->prediction().cycles);
  }

  TEST_CASE("the fewer blocks are kept the less an array takes, and all of them as long as gemm") {
    const auto cycles = [](double density) {
      MeasuredCosts costs(machine_of("xdna1"));
      const auto planned = make_spmm_static(product(Type::i8, 1024, 1024, 1024, 8, density), costs);
      return std::pair(static_cast<double>(planned->prediction().cycles),
                       planned->facts().at("dense_cycles").get<double>());
    };
    const auto [all, dense] = cycles(1);
    CHECK(all < 1.02 * dense);
    CHECK(cycles(0.5).first < 0.75 * dense);
    CHECK(cycles(0.25).first < 0.5 * dense);
  }
}

TEST_SUITE("unit") {
  TEST_CASE("tiles of kept blocks hold even numbers of blocks and where they belong") {
    const gemm::VectorType& type = *gemm::vector_type(Type::i8);
    gemm::KeptBlocks blocks{{0, 1, 4}, {5, 0, 3, 4}, std::vector<float>(256)};
    for (std::uint32_t e = 0; e < 4; ++e) blocks.value[e * 64 + 9] = static_cast<float>(e + 1);
    const gemm::KeptTiles tiles(blocks, type, {32, 16, 32}, 2, 2);
    CHECK(tiles.pairs(0, 0) == 2);
    CHECK(tiles.pairs(0, 1) == 2);
    CHECK(tiles.pairs(1, 0) == 2);
    CHECK(tiles.block_bytes() == 4 * 64);
    CHECK(tiles.lists(4 * 64).steps == 4 * 64 + 2 * 2);
    std::vector<std::byte> bytes(tiles.block_bytes());
    std::vector<std::byte> lists(tiles.list_bytes());
    const auto write = [&](std::uint32_t step) {
      tiles.write_blocks(0, step, bytes);
      tiles.write_lists(0, step, lists);
    };
    const auto short_at = [&](std::size_t number) {
      std::uint16_t value = 0;
      std::memcpy(&value, lists.data() + 2 * number, sizeof value);
      return value;
    };
    write(0);
    const std::uint16_t expected[] = {1, 1, 0, 0, 0, 3 * 256, 0, 0, 0};
    for (std::size_t i = 0; i < std::size(expected); ++i) CHECK(short_at(i) == expected[i]);
    CHECK(bytes[2 * 64 + 9] == std::byte{2});
    CHECK(bytes[3 * 64 + 9] == std::byte{3});
    CHECK(bytes[0 * 64 + 9] == std::byte{0});
    write(1);
    CHECK(short_at(2) == 256);
    CHECK(bytes[0 * 64 + 9] == std::byte{1});
    CHECK(bytes[2 * 64 + 9] == std::byte{4});
  }

  TEST_CASE("values of a matrix file are rounded to the type, or refused") {
    const test::Folder folder;
    const auto write = [&](const std::string& value) {
      return folder.write("w.mtx",
                          "%%MatrixMarket matrix coordinate real general\n12 9 3\n1 2 1\n"
                          "12 9 -2\n3 3 " +
                              value + "\n");
    };
    Options options = product(Type::i8, 12, 9, 5, 4, 1);
    options.weights.matrix = write("100.5");
    MeasuredCosts costs(machine_of("xdna1"));
    CHECK(make_spmm_static(options, costs)->facts().at("rounded").at("matrix") == 1);
    CHECK(test::run_workload<VectorSpmm>(options, machine_of("xdna1")) == "passed");
    write("128");
    CHECK(error_of(options) ==
          "workload.matrix: found an element of 128, allowed -128 to 127 with dtype i8");
    options.weights.dtype = Type::i16;
    CHECK(error_of(options).empty());
  }
}
