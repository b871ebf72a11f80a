#include "sim/plot/sheet.h"

#include <doctest/doctest.h>

#include "sim/base/errors.h"
#include "sim/plot/frame.h"

using namespace tessera;
using namespace tessera::plot;

TEST_SUITE("unit") {
  TEST_CASE("lengths are read in inches, millimetres, centimetres and points") {
    CHECK(inches_of("3.3in", "--width") == doctest::Approx(3.3));
    CHECK(inches_of("84mm", "--width") == doctest::Approx(3.307).epsilon(0.001));
    CHECK(inches_of("8.4cm", "--width") == doctest::Approx(3.307).epsilon(0.001));
    CHECK(inches_of("240pt", "--width") == doctest::Approx(3.333).epsilon(0.001));
    CHECK(points_of("8", "--size") == 8);
    CHECK(points_of("8pt", "--size") == 8);
    for (const char* wrong : {"", "3", "in", "0.2in", "3.3 in", "3in4", "-3in", "1e9mm", "nan"})
      CHECK_THROWS_AS(inches_of(wrong, "--width"), UserError);
    for (const char* wrong : {"", "1", "8in", "200"})
      CHECK_THROWS_AS(points_of(wrong, "--size"), UserError);
  }

  TEST_CASE("a heading is broken at spaces where the sheet ends") {
    const Sheet sheet{3.3, 2, 8, "sans"};
    CHECK(wrapped("short", sheet, 3) == "'short'");
    CHECK(wrapped("", sheet, 3) == "''");
    CHECK(wrapped("a few words", sheet, 6 * sheet.letter()) == "'a few'.\"\\n\".'words'");
    CHECK(lines_of("a few words", sheet, 6 * sheet.letter()) == 2);
    CHECK(lines_of("", sheet, 1) == 0);
    CHECK(sheet.is_narrow());
    CHECK_FALSE(Sheet{}.is_narrow());
  }

  TEST_CASE("a text stands within the frame, off lines, spots and other texts") {
    const Frame frame{{3, 2, 10, "sans"}, {0, 3, 0, 2}};
    Labels labels(frame);
    labels.add_line({0, 1}, {3, 1});
    for (const double x : {0.02, 0.7, 1.5, 1.52, 2.98}) labels.keep_free(Spot{x, 1});
    std::vector<Box> boxes;
    for (const double x : {0.02, 0.7, 1.5, 1.52, 2.98}) {
      const auto box = labels.put("some text", {x, 1});
      REQUIRE(box);
      CHECK(frame.box.holds(*box));
      CHECK_FALSE(box->meets({0, 1}, {3, 1}));
      for (const Box& other : boxes) CHECK_FALSE(box->meets(other));
      boxes.push_back(*box);
    }
    CHECK_FALSE(labels.put(std::string(60, 'x'), {1.5, 1}));  // wider than the frame
  }

  TEST_CASE("a line meets the box that it runs through, also where neither end lies in it") {
    const Box box{1, 2, 1, 2};
    CHECK(box.meets({0, 0}, {3, 3}));
    CHECK(box.meets({1.5, 0}, {1.5, 3}));
    CHECK(box.meets({1.2, 1.2}, {1.4, 1.4}));
    CHECK_FALSE(box.meets({0, 0}, {0.9, 3}));
    CHECK_FALSE(box.meets({0, 2.5}, {2.5, 5}));
    CHECK_FALSE(box.meets({3, 0}, {3, 3}));
  }
}
