#include "sim/data/matrix_market.h"

#include <string>

#include <doctest/doctest.h>

#include "tests/refusal.h"

using tessera::data::parse_matrix_market;
using tessera::data::SparseMatrix;

namespace {

SparseMatrix parse(const std::string& text) { return parse_matrix_market(text, "a.mtx"); }

void check_mtx_message(const std::string& text, const std::string& expected) {
  CAPTURE(text);
  CHECK(tessera::test::refusal([&] { return parse(text); }) == expected);
}

constexpr const char* kReal = "%%MatrixMarket matrix coordinate real general\n";

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("entries come out by row and column whatever their order in the file") {
    const SparseMatrix matrix =
        parse(std::string(kReal) + "% note\n\n2 3 3\n2 3 -1.5\n1 2 +4\n2 1 1e-3\n");
    CHECK(matrix.row_begin == std::vector<std::uint64_t>{0, 1, 3});
    CHECK(matrix.column == std::vector<std::uint32_t>{1, 0, 2});
    CHECK(matrix.value == std::vector<double>{4, 1e-3, -1.5});
  }

  TEST_CASE("symmetric, skew and pattern files are filled in") {
    const auto symmetric =
        parse("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n");
    CHECK(symmetric.row_begin == std::vector<std::uint64_t>{0, 1, 2, 3});
    CHECK(symmetric.value == std::vector<double>{1, 1, 1});
    const auto skew =
        parse("%%MatrixMarket MATRIX Coordinate integer skew-symmetric\r\n2 2 1\r\n2 1 5\r\n");
    CHECK(skew.column == std::vector<std::uint32_t>{1, 0});
    CHECK(skew.value == std::vector<double>{-5, 5});
  }

  TEST_CASE("array files are read by columns without their zeros") {
    const auto matrix = parse("%%MatrixMarket matrix array real general\n2 2\n1\n0\n3\n4\n");
    CHECK(matrix.row_begin == std::vector<std::uint64_t>{0, 2, 3});
    CHECK(matrix.value == std::vector<double>{1, 3, 4});
    const auto lower = parse("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n");
    CHECK(lower.value == std::vector<double>{1, 2, 2, 3});
  }

  TEST_CASE("entries given twice are added and empty matrices are fine") {
    CHECK(parse(std::string(kReal) + "1 1 2\n1 1 2\n1 1 3\n").value == std::vector<double>{5});
    CHECK(parse(std::string(kReal) + "0 0 0\n").entries() == 0);
  }

  TEST_CASE("malformed files are refused with their line") {
    check_mtx_message("", "a.mtx:1: a Matrix Market file starts with '%%MatrixMarket matrix ...'");
    check_mtx_message("%%MatrixMarket matrix coordinate complex general\n",
                      "a.mtx:1: values: found 'complex', allowed: real, integer, pattern, double");
    check_mtx_message(std::string(kReal) + "2 2\n",
                      "a.mtx:2: number of entries is missing; expected a whole number");
    check_mtx_message(std::string(kReal) + "2 2 1\n3 1 1\n",
                      "a.mtx:3: row: found 3, allowed 1 to 2");
    check_mtx_message(std::string(kReal) + "2 2 1\n1 0 1\n",
                      "a.mtx:3: column: found 0, allowed 1 to 2");
    check_mtx_message(std::string(kReal) + "2 2 1\n1 1 x\n",
                      "a.mtx:3: value: found 'x', expected a number");
    check_mtx_message(std::string(kReal) + "2 2 1\n1 1 nan\n",
                      "a.mtx:3: value: found nan, expected a finite number");
    check_mtx_message(std::string(kReal) + "2 2 1\n1 1 1 9\n",
                      "a.mtx:3: found '9' after the last value of the line");
    check_mtx_message(std::string(kReal) + "2 2 2\n1 1 1\n",
                      "a.mtx:3: the file ends after 1 of 2 entries");
    check_mtx_message(std::string(kReal) + "2 2 1\n1 1 1\n2 2 1\n",
                      "a.mtx:4: found more lines than the size line announces");
    check_mtx_message("%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n",
                      "a.mtx:2: a symmetric matrix is square; found 2 x 3");
  }
}
