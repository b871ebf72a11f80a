#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/saved.h"

using namespace tessera;
using test::check_refused;
using test::CommandFolder;
using test::compare;
using test::kHalf;
using test::kSingle;
using test::matrix;
using test::run_saving;
using test::tensors_config;

/// What users see of a dense product: its results in files, mistakes in its plan.
namespace {

const std::string kProduct = R"("kernel": "gemm", "m": 40, "n": 20, "k": 48, "dtype": "f16")";

std::string run_dense(const std::string& more) {
  return fmt::format("run {}/configs/runs/gemm.json {}", TESSERA_SOURCE, more);
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("a dense product's C is A times B, in both layouts, whichever operand stays") {
    const CommandFolder folder;
    for (const std::string stationary : {"a", "b"})
      for (const std::string type : {"f16", "f32"}) {
        run_saving(folder, tensors_config(kProduct),
                   fmt::format("--set workload.dtype={} --set workload.partials=f32 --set "
                               "'workload.plan={{\"stationary\": \"{}\", \"partials\": \"f32\", "
                               "\"split_m\": 2, \"split_n\": 2, \"split_k\": 2}}'",
                               type, stationary));
        CHECK(test::saved(folder, "A").dtype == (type == "f16" ? "<f2" : "<f4"));
        CHECK(compare(matrix(folder, "C"), matrix(folder, "A"), matrix(folder, "B"),
                      type == "f16" ? kHalf : kSingle) == "equal");
      }
    run_saving(folder, tensors_config(kProduct + R"(, "layout": "natural")"));
    CHECK(compare(matrix(folder, "C"), matrix(folder, "A"), matrix(folder, "B"), kHalf) == "equal");
  }

  TEST_CASE("a dense plan that cannot be carried out is refused with its key") {
    const CommandFolder folder;
    const std::string small =
        "--set workload.m=64 --set workload.n=64 --set workload.k=64 --set machine.tiles=8 ";
    check_refused(folder, run_dense(small + "--set workload.plan.split_m=100"),
                  {"--set workload.plan.split_m=100: workload.plan.split_m: found 100, allowed 1 "
                   "to 64"});
    check_refused(
        folder,
        run_dense(small + "--set workload.plan.split_m=3 " + "--set workload.plan.split_n=4"),
        {"12", "8"});
    check_refused(folder, run_dense(small + "--set workload.plan.cuts=1000"), {"plan.cuts"});
    check_refused(folder, run_dense(small + "--set workload.plan.unit=32x16"),
                  {"workload.plan.unit: found 32x16, allowed auto, 16x16, 16x8, 8x16, 8x8, 4x16, "
                   "4x8, vector"});
    check_refused(folder,
                  run_dense(small + "--set workload.plan.unit=8x8 --set "
                                    "machine.tile.matrix_unit.smaller_blocks=false"),
                  {"workload.plan.unit: found 8x8, allowed auto, 16x16, vector"});
  }
}
