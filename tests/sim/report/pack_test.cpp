#include <random>
#include <string_view>
#include <zlib.h>

#include <doctest/doctest.h>

#include "sim/report/page.h"

using namespace tessera;
using report::pack_bytes;
using report::pack_numbers;

namespace {

using Bytes8 = std::vector<std::uint8_t>;

/// Decodes base64 by looking up each letter, four at a time; then inflates.
Bytes8 unpacked(const std::string& text) {
  const std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  Bytes8 packed;
  REQUIRE(text.size() % 4 == 0);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::size_t bits = 0;
    std::size_t known = 0;
    for (const char c : text.substr(i, 4)) {
      bits = bits * 64 + (c == '=' ? 0 : letters.find(c));
      known += c == '=' ? 0 : 1;
    }
    for (std::size_t k = 0; k + 1 < known; ++k) {
      packed.push_back(static_cast<std::uint8_t>(bits >> (16 - 8 * k)));
    }
  }
  Bytes8 bytes(1 << 20);
  uLongf size = bytes.size();
  REQUIRE(::uncompress(bytes.data(), &size, packed.data(), packed.size()) == Z_OK);
  bytes.resize(size);
  return bytes;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("packed bytes come back, whatever their number") {
    std::mt19937 random(7);
    for (std::size_t size = 0; size < 70; ++size) {
      Bytes8 bytes(size);
      for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
      CHECK(unpacked(pack_bytes(bytes)) == bytes);
    }
  }

  TEST_CASE("numbers are zigzag differences, seven bits a byte, the lowest first") {
    const std::vector<double> numbers = {0, -1, 63, 63, 1000};
    CHECK(unpacked(pack_numbers(numbers, 0)) == Bytes8{0, 1, 0x80, 1, 0, 0xd2, 0x0e});
    const std::vector<double> tenths = {0.3, 0.1};
    CHECK(unpacked(pack_numbers(tenths, 1)) == Bytes8{6, 3});
    const std::vector<double> large = {9007199254740991.0};  // 2^53 - 1
    CHECK(unpacked(pack_numbers(large, 0)) ==
          Bytes8{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f});
  }

  TEST_CASE("a packed table names its columns, their decimals and words") {
    const report::Table table =
        report::parse_table("name,mean\nb,0.5\na,1.5\nb,2.5\n", "a.csv", {});
    const auto packed = report::pack_table(table);
    CHECK(packed["rows"] == 3);
    CHECK(packed["columns"][0]["words"] == std::vector<std::string>{"b", "a"});
    CHECK(unpacked(packed["columns"][0]["data"]) == Bytes8{0, 2, 1});
    CHECK(packed["columns"][1]["decimals"] == 1);
    CHECK(!packed["columns"][1].contains("words"));
    CHECK(unpacked(packed["columns"][1]["data"]) == Bytes8{10, 20, 20});
  }
}
