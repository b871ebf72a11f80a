#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <doctest/doctest.h>

#include "kernels/spmm_static/spmm_static.h"
#include "tests/kernels/run_workload.h"

using namespace tessera;
using namespace tessera::spmm_static;

namespace {

MachineConfig small_machine(std::uint32_t tiles) {
  MachineConfig machine;
  machine.name = "small";
  machine.tiles = tiles;
  machine.tile.sram_kib = 64;
  machine.tile.supervisor.launch_stagger_cycles = 4;
  return machine;
}

/// A matrix file of its own, removed afterwards.
class MatrixFile {
 public:
  explicit MatrixFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("tessera-spmm-{}.mtx", ::getpid())) {
    std::ofstream(path_) << text;
  }
  MatrixFile(const MatrixFile&) = delete;
  MatrixFile& operator=(const MatrixFile&) = delete;
  ~MatrixFile() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

/// Runs the product with several widths in both types on several machines.
void check_all(Options options) {
  for (const program::Type type : {program::Type::f16, program::Type::f32}) {
    for (const std::uint32_t n : {1U, 7U, 33U}) {
      for (const std::uint32_t tiles : {1U, 12U}) {
        options.weights.dtype = type;
        options.n = n;
        CAPTURE(n);
        CAPTURE(tiles);
        CHECK(test::run_workload<SpmmStatic>(options, small_machine(tiles)) == "passed");
      }
    }
  }
}

void check_file(const std::string& text) {
  const MatrixFile file("%%MatrixMarket matrix coordinate " + text);
  Options options;
  options.weights.matrix = file.path();
  check_all(options);
}

Options seeded(std::uint32_t m, std::uint32_t k, double density) {
  Options options;
  options.weights.m = m;
  options.weights.k = k;
  options.weights.density = density;
  return options;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("seeded patterns, from none to all nonzeros, give the right sums") {
    check_all(seeded(20, 30, 0));
    check_all(seeded(20, 30, 0.1));
    check_all(seeded(20, 30, 1));
  }

  TEST_CASE("matrices that are not square or smaller than the machine give the right sums") {
    check_all(seeded(3, 90, 0.3));
    check_all(seeded(90, 3, 0.3));
    check_all(seeded(1, 1, 1));
  }

  TEST_CASE("a single nonzero, empty rows and one dense row give the right sums") {
    check_file("real general\n9 8 1\n5 7 -2.5\n");
    check_file("real general\n9 8 3\n1 1 1\n5 7 -2.5\n5 8 3\n");
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

  TEST_CASE("pinned cuts give the right sums") {
    Options options = seeded(30, 40, 0.2);
    options.n = 33;
    options.plan = {3, 4};
    CHECK(test::run_workload<SpmmStatic>(options, small_machine(12)) == "passed");
  }
}
