#include <doctest/doctest.h>

#include "kernels/gemm/gemm.h"

using namespace tessera;
using namespace tessera::gemm;

TEST_SUITE("unit") {
  TEST_CASE("bf16 is rounded to nearest, ties to even") {
    CHECK(nearest_bf16(1) == 1);
    CHECK(nearest_bf16(1 + 0x1p-8F) == 1);
    CHECK(nearest_bf16(1 + 0x1p-7F + 0x1p-8F) == 1 + 0x1p-6F);
    CHECK(nearest_bf16(-1 - 0x1.01p-8F) == -1 - 0x1p-7F);
    CHECK(nearest_bf16(0x1p-133F) == 0x1p-133F);
    CHECK(nearest_bf16(0x1p-134F) == 0);
  }
}
