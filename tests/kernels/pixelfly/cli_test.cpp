#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"

using tessera::test::Answer;
using tessera::test::check_refused;
using tessera::test::CommandFolder;
using tessera::test::numpy_file;

/// Options of a pixelfly layer.
namespace {

constexpr const char* kPixelfly = R"({"machine": {"extends": "bow", "tiles": 8},
  "workload": {"kernel": "pixelfly", "m": 32, "k": 48, "n": 9, "block": 4, "rank": 3}})";

/// A dense .npy file of small whole numbers.
std::string npy(int rows, int columns) {
  std::string bytes;
  for (int i = 0; i < rows * columns; ++i) bytes += static_cast<char>(i % 5);
  return numpy_file("|i1", fmt::format("{}, {}", rows, columns), bytes);
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("S, U and V come from files; the report counts parameters") {
    const CommandFolder folder;
    folder.write("a.json", kPixelfly);
    folder.write("s.npy", npy(32, 48));
    folder.write("u.npy", npy(32, 3));
    folder.write("v.npy", npy(48, 3));
    const Answer answer = folder.call(
        "run a.json --out result --set workload.matrix=s.npy --set workload.u=u.npy "
        "--set workload.v=v.npy");
    CAPTURE(answer.err);
    REQUIRE(answer.code == 0);
    const auto report = folder.json("result/report.json");
    CHECK(report.at("check").at("passed") == true);
    const int nonzeros = 32 * 48 * 4 / 5 + 1;  // every fifth of them is 0
    const auto parameters = report.at("workload").at("parameters").get<int>();
    CHECK(std::abs(parameters - (nonzeros + 3 * (32 + 48))) <= 1);
    CHECK(report.at("work").at("useful_flops") == 2 * parameters * 9);
  }

  TEST_CASE("mistakes about a layer are refused") {
    const CommandFolder folder;
    folder.write("a.json", kPixelfly);
    folder.write("u.npy", npy(32, 4));
    folder.write("zero.mtx", "%%MatrixMarket matrix coordinate real general\n32 48 0\n");
    const std::vector<std::pair<const char*, const char*>> mistakes{
        {"rank=33", "workload.rank: found 33, allowed 0 to 32: W is 32 x 48"},
        {"rank=512 --set workload.m=32768 --set workload.k=32768",
         "workload.rank: found 512, allowed 0 to 19: the 33554432 elements of U and V are more "
         "than "
         "8 tiles of 624 KiB hold"},
        {"m=8 --set workload.block=16", "workload.block: found 16, allowed up to 8: W is 8 x 48"},
        {"butterfly_size=12",
         "workload.butterfly_size: found 12, allowed powers of two from 2 to 16"},
        {"butterfly_size=32",
         "workload.butterfly_size: found 32, allowed powers of two from 2 to 16"},
        {"factors=9", "workload.factors: found 9, allowed 0 (all) to 3: log2 of butterfly_size 8"},
        {"m=33", "workload.butterfly_size: found 33 x 48, allowed an m and k that 2 divides"},
        {"pattern=uniform --set workload.density=0",
         "workload.density: found 0, allowed a number from 1e-15 to 1"},
        {"x=u.npy", "workload.x: found u.npy of shape [32, 4], allowed [48, "},
        {"gradient=u.npy", "workload.gradient: is used by pass grad_weights only, found forward"},
        {"matrix=zero.mtx",
         "workload.matrix: found a mask without blocks, allowed one block of S and up"},
        {"gamma=1.5", "workload.gamma: found 1.5, allowed a number from 0 to 1"},
        {"gamma=-0.1", "workload.gamma: found -0.1, allowed a number from 0 to 1"},
        {"gamma=learned", "workload.gamma: found \"learned\", allowed a number from 0 to 1"},
        {"u=u.npy", "workload.u: found u.npy of shape [32, 4], allowed [32, 3]"},
        {"plan.sparse.parts=99", "workload.plan.sparse.parts: found 99, allowed 0 to"},
        {"pass=grad_weights --set workload.plan.dv.parts=99",
         "workload.plan.dv.parts: found 99, allowed 0 to"},
        {"pass=grad_weights --set workload.block=1 --set workload.plan.products=matrix_unit",
         "workload.plan.products: found \"matrix_unit\", allowed \"best\" and \"vector\" with "
         "blocks of 1"},
        {"plan.low_rank.unit=8x8 --set workload.plan.sparse.unit=vector",
         "workload.plan.low_rank.unit: found 8x8, allowed auto or vector, as of other products"},
        {"block=1 --set workload.plan.sparse.unit=8x8",
         "workload.plan.sparse.unit: found 8x8, allowed auto with blocks of 1"},
        {"plan.gradient_unit=8x8",
         "workload.plan.gradient_unit: is used by pass grad_weights only, found forward"},
        {"plan.dw.parts=3", "workload.plan.dw: is used by pass grad_weights only, found forward"},
        {"pass=grad_weights --set workload.plan.rounds=2",
         "workload.plan.rounds: is used by passes forward and grad_input only, found grad_weights"},
        {"plan.low_rank.bands=99", "workload.plan.low_rank.bands: found 99, allowed 0 to"},
    };
    for (const auto& [option, message] : mistakes) {
      check_refused(folder, std::string("run a.json --set workload.") + option, {message});
    }
  }
}
