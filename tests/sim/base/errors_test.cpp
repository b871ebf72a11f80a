#include "sim/base/errors.h"

#include <doctest/doctest.h>

#include "tests/refusal.h"

using namespace tessera;

TEST_SUITE("unit") {
  TEST_CASE("messages hold no control characters and no bytes that are no text") {
    CHECK(legible("a\tb\nc") == "a\tb\nc");
    CHECK(legible("\x1b[31mred\x7f\r") == "\\x1b[31mred\\x7f\\x0d");
    CHECK(legible("\xc2\xb5m \xe2\x82\xac \xf0\x9f\x98\x80") ==
          "\xc2\xb5m \xe2\x82\xac \xf0\x9f\x98\x80");
    CHECK(legible("\xc2\x9b") == "\\xc2\\x9b");
    CHECK(legible("\xff \xc2 \xe2\x82") == "\\xff \\xc2 \\xe2\\x82");
    const std::string once = legible("\x1b\xff");
    CHECK(legible(once) == once);
    CHECK(legible("").empty());
  }

  TEST_CASE("long lines of messages keep their beginning and their end") {
    const std::string key(100'000, 'k');
    const std::string text = legible("run.json: " + key + ": unknown\nsecond");
    CHECK(text.size() < 2000);
    CHECK(text.starts_with("run.json: kkk"));
    CHECK(test::holds(text, "98619 bytes left out"));
    CHECK(text.ends_with("kkk: unknown\nsecond"));
    CHECK(legible(text) == text);
    CHECK(legible(std::string(1600, 'x')) == std::string(1600, 'x'));
    std::string wide;
    for (int i = 0; i < 1000; ++i) wide += "\xe2\x82\xac";
    CHECK(!test::holds(legible(legible(wide)), "\\x"));
    CHECK(std::string(UserError(wide).what()).size() < 1500);
  }
}
