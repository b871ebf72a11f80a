#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/saved.h"

using namespace tessera;
using test::CommandFolder;
using test::compare;
using test::kHalf;
using test::kSingle;
using test::matrix;
using test::run_saving;
using test::tensors_config;

/// What users see of a dense product: its results in files.
namespace {

const std::string kProduct = R"("kernel": "gemm", "m": 40, "n": 20, "k": 48, "dtype": "f16")";

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
    // Of integers as they are stored: rounded to a multiple of 2^19.
    for (const char* machine : {"machine.tile.matrix_unit.i16.outputs=4", "'machine=\"xdna1\"'"}) {
      run_saving(folder, tensors_config(kProduct),
                 fmt::format("--set machine.energy=null --set {} --set workload.dtype=i16 --set "
                             "workload.shift=19",
                             machine));
      test::Matrix c = matrix(folder, "C");
      for (double& value : c.values) value *= 0x1p19;
      CHECK(compare(c, matrix(folder, "A"), matrix(folder, "B"), 0x1p-14) == "equal");
    }
    run_saving(folder, tensors_config(kProduct + R"(, "layout": "natural")"));
    CHECK(compare(matrix(folder, "C"), matrix(folder, "A"), matrix(folder, "B"), kHalf) == "equal");
  }

  TEST_CASE("the type is blamed where an array has no unit for it, whatever else is set") {
    const CommandFolder folder;
    folder.write("a.json", fmt::format("{{\"machine\": \"bow\", \"workload\": {{{}}}}}", kProduct));
    test::check_refused(folder,
                        "run a.json --set 'machine=\"aie2_2x2\"' --set workload.m=8 --set "
                        "workload.dtype=i16",
                        {"--set workload.dtype=i16: machine.tile.matrix_unit.i16.outputs: found 0, "
                         "allowed 4: products of i16 are made on that unit; its value is preset "});
  }
}
