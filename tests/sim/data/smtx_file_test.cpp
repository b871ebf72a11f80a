#include "sim/data/smtx_file.h"

#include <string>

#include <doctest/doctest.h>

#include "tests/refusal.h"

using tessera::data::parse_smtx;
using tessera::data::SparseMatrix;

namespace {

void check_smtx_message(const std::string& text, const std::string& expected) {
  CAPTURE(text);
  CHECK(tessera::test::refusal([&] { return parse_smtx(text, "a.smtx"); }) == expected);
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a .smtx pattern comes out by rows, columns ascending") {
    const SparseMatrix w = parse_smtx("3, 4, 5\n0 2 2 5 \n3 0 2 1 3 \n", "a.smtx");
    CHECK(w.rows == 3);
    CHECK(w.columns == 4);
    CHECK(w.row_begin == std::vector<std::uint64_t>{0, 2, 2, 5});
    CHECK(w.column == std::vector<std::uint32_t>{0, 3, 1, 2, 3});
    CHECK(w.value == std::vector<double>(5, 1.0));
  }

  TEST_CASE("commas, spaces and a missing last line end make no difference") {
    const SparseMatrix w = parse_smtx("2,3,2\r\n0,1,2\r\n2,0", "a.smtx");
    CHECK(w.column == std::vector<std::uint32_t>{2, 0});
    CHECK(parse_smtx("2 3 0\n0 0 0\n", "a.smtx").entries() == 0);
    CHECK(parse_smtx("2 3 0\n0 0 0\n\n", "a.smtx").rows == 2);
  }

  TEST_CASE("a malformed .smtx file is refused with the line") {
    check_smtx_message("", "a.smtx:1: a .smtx file starts with 'rows, columns, nonzeros'");
    check_smtx_message("2, 3\n",
                       "a.smtx:1: number of nonzeros is missing; expected a whole number");
    check_smtx_message(
        "2, x, 1\n", "a.smtx:1: number of columns: found 'x', expected a whole number below 2^32");
    check_smtx_message("2, 3, 1, 4\n", "a.smtx:1: found '4' after the last value of the line");
    check_smtx_message("2, 3, 1\n", "a.smtx:1: the line of 3 row offsets is missing");
    check_smtx_message("2, 3, 1\n0 1\n1\n",
                       "a.smtx:2: row offset is missing; expected a whole number");
    check_smtx_message("2, 3, 1\n1 1 1\n1\n", "a.smtx:2: row offset 0: found 1, allowed 0 to 0");
    check_smtx_message("2, 3, 2\n0 2 1\n1 2\n", "a.smtx:2: row offset 2: found 1, allowed 2 to 2");
    check_smtx_message("2, 3, 2\n0 2 3\n1 2\n", "a.smtx:2: row offset 2: found 3, allowed 2 to 2");
    check_smtx_message("2, 3, 2\n0 0 1\n1 2\n",
                       "a.smtx:2: the last row offset is 1, but line 1 announces 2 nonzeros");
    check_smtx_message("2, 3, 2\n0 1 2\n", "a.smtx:2: the line of 2 column indices is missing");
    check_smtx_message("2, 3, 2\n0 1 2\n1\n",
                       "a.smtx:3: column is missing; expected a whole number");
    check_smtx_message("2, 3, 2\n0 1 2\n1 3\n", "a.smtx:3: column: found 3, allowed 0 to 2");
    check_smtx_message("2, 3, 2\n0 1 2\n1 2 0\n",
                       "a.smtx:3: found '0' after the last value of the line");
    check_smtx_message("2, 3, 2\n0 1 2\n1 2\n0\n",
                       "a.smtx:4: found more lines than offsets and columns");
    check_smtx_message("2, 3, 2\n0 0 2\n1 1\n", "a.smtx:3: row 1 names column 1 twice");
  }
}
