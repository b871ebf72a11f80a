#include <cstring>

#include <doctest/doctest.h>

#include "kernels/spmm_static/spmm_static.h"

using namespace tessera;
using namespace tessera::spmm_static;

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
}
