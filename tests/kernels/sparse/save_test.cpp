#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/saved.h"

using namespace tessera;
using namespace tessera::test;

/// Inputs and results in files: what is saved is what was computed, whatever lies where.
TEST_SUITE("cli") {
  TEST_CASE("sparse products: Y is W X, in blocks and single elements, given early or late") {
    const CommandFolder folder;
    for (const std::string kernel : {"spmm_static", "spmm_dynamic"})
      for (const int block : {1, 4})
        for (const std::string layout : {"blocked", "natural"}) {
          run_saving(folder, tensors_config(fmt::format(
                                 R"("kernel": "{}", "m": 36, "k": 28, "n": 10, "block": {},
                                         "density": 0.3, "dtype": "f16", "layout": "{}")",
                                 kernel, block, layout)));
          CHECK(compare(matrix(folder, "Y"), blocks(folder, "W", 36, 28), matrix(folder, "X"),
                        kHalf) == "equal");
        }
  }

  TEST_CASE("gradients of a sparse product are those of its matrices, of every pattern") {
    const CommandFolder folder;
    const std::string workload = R"("kernel": "spmm_dynamic", "m": 36, "k": 28, "n": 10,
      "block": 4, "density": 0.3, "dtype": "f32", "patterns": 2, "pass": )";
    run_saving(folder, tensors_config(workload + R"("grad_input")"));
    for (const std::string pattern : {".0", ".1"})
      CHECK(compare(matrix(folder, "Xg" + pattern), blocks(folder, "WT", 28, 36, pattern),
                    matrix(folder, "Yg"), kSingle) == "equal");
    run_saving(folder, tensors_config(workload + R"("grad_values")"));
    for (const std::string pattern : {".0", ".1"}) {
      const Matrix found = blocks(folder, "Wg", 36, 28, pattern);
      const Matrix expected = product(matrix(folder, "Yg"), transposed(matrix(folder, "X")));
      CHECK(compare_filled(found, expected) ==
            test::saved(folder, "Wg" + pattern + ".data").values.size());
    }
  }
}
