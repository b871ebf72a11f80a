#include "kernels/sparse/operand/weights.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "kernels/sparse/operand/pattern.h"
#include "kernels/sparse/operand/sources.h"
#include "sim/base/errors.h"

using namespace tessera;
using namespace tessera::sparse;

TEST_SUITE("unit") {
  TEST_CASE("a uniform W holds exactly the wanted blocks, whole inside the matrix") {
    for (const std::uint32_t block : {1U, 4U, 8U, 16U}) {
      CAPTURE(block);
      const BlockMatrix w = make_weights({.m = 75, .k = 131, .block = block, .density = 0.3});
      CHECK(w.rows == 75);
      CHECK(w.columns == 131);
      const std::uint64_t places = std::uint64_t{w.block_rows()} * w.block_columns();
      CHECK(w.blocks() == share_of(places, 0.3));
      std::uint64_t inside = 0;
      w.for_blocks([&](std::uint32_t row, std::uint64_t e) {
        inside += std::uint64_t{std::min(block, 75 - row * block)} *
                  std::min(block, 131 - w.column[e] * block);
      });
      CHECK(w.nonzeros == inside);
    }
  }

  TEST_CASE("density 1 gives the same dense matrix in every block size") {
    WeightOptions options{.m = 21, .k = 34, .density = 1};
    const BlockMatrix dense = make_weights(options);
    CHECK(dense.nonzeros == 21 * 34);
    for (const std::uint32_t block : {4U, 8U, 16U}) {
      options.block = block;
      const BlockMatrix w = make_weights(options);
      CHECK(w.nonzeros == 21 * 34);
      for (std::uint32_t i = 0; i < 21; ++i) {
        for (std::uint32_t j = 0; j < 34; ++j) {
          const std::uint64_t e = w.row_begin[i / block] + j / block;
          CHECK(w.values(e)[i % block * block + j % block] == dense.value[i * 34 + j]);
        }
      }
    }
  }

  TEST_CASE("every pattern is a mask over one dense matrix, in every block size") {
    for (const Pattern pattern : {Pattern::uniform, Pattern::row_skewed, Pattern::n_of_m,
                                  Pattern::banded, Pattern::tile_wise, Pattern::rmat}) {
      for (const std::uint32_t block : {1U, 4U, 8U, 16U}) {
        CAPTURE(block);
        const WeightOptions options{
            .m = 90, .k = 90, .block = block, .pattern = pattern, .density = 0.2};
        const BlockMatrix w = make_weights(options);
        CHECK(w.blocks() > 0);
        std::uint64_t nonzeros = 0;
        w.for_elements([&](std::uint32_t row, std::uint32_t column, std::uint64_t at) {
          if (w.value[at] == 0) return;
          ++nonzeros;
          CHECK(static_cast<double>(w.value[at]) == seeded_value(options, row, column, 90));
        });
        CHECK(nonzeros <= w.nonzeros);
        CHECK(nonzeros + 5 >= w.nonzeros);  // a seeded value may be zero
      }
    }
  }

  TEST_CASE("a W of too many elements is refused before it is made") {
    WeightOptions options;
    options.m = options.k = 1U << 16;
    options.density = 1;
    for (const Pattern pattern : {Pattern::uniform, Pattern::row_skewed, Pattern::tile_wise,
                                  Pattern::n_of_m, Pattern::rmat, Pattern::banded}) {
      options.pattern = pattern;
      options.bandwidth = 10000;
      CHECK_THROWS_AS(make_weights(options), UserError);
    }
    options.m = options.k = 200 * 200 * 200;
    options.pattern = Pattern::poisson_3d;
    options.block = 16;
    CHECK_THROWS_WITH(make_weights(options), doctest::Contains("allowed up to 536870912"));
  }
}
