#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/saved.h"

using namespace tessera;
using test::CommandFolder;
using test::compare;
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
        CHECK(compare(folder, "C", "A B") == "equal");
      }
    // Of integers as they are stored: rounded to a multiple of 2^19.
    for (const char* machine : {"machine.tile.matrix_unit.i16.outputs=4", "'machine=\"xdna1\"'"}) {
      run_saving(folder, tensors_config(kProduct),
                 fmt::format("--set machine.energy=null --set {} --set workload.dtype=i16 --set "
                             "workload.shift=19",
                             machine));
      CHECK(compare(folder, "C", fmt::format("{} A B", 0x1p-19), 0x1p-14) == "equal");
    }
    run_saving(folder, tensors_config(kProduct + R"(, "layout": "natural")"));
    CHECK(compare(folder, "C", "A B") == "equal");
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
