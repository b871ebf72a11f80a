#include "sim/elf/listing.h"

#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "sim/base/embedded.h"
#include "sim/isa/listing.h"
#include "tests/refusal.h"

using namespace tessera;

namespace {

elf::Program listed_sample() {
  constexpr const char* kName = "tests/sim/elf/sample/codelets.elf";
  return elf::read(embedded::find(kName), kName);
}

std::string listing(std::string_view symbol) {
  std::ostringstream out;
  elf::list(out, listed_sample(), symbol);
  return out.str();
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a listing has a heading for each symbol and a line for each word") {
    const std::string text = listing("");
    test::check_holds(text, {" <sample_axpy>:\n", " <sample_loop>:\n",
                             ":  58b5455b  ld2 fa0, fa1, (a0), (a1)\n"});
    CHECK(!test::holds(text, "  ret"));
    CHECK(test::holds(text, "jalr zero, 0(ra)\n"));
  }

  TEST_CASE("one symbol is listed alone") {
    const std::string text = listing("sample_loop");
    CHECK(!test::holds(text, "sample_axpy"));
    CHECK(test::holds(text, "<worker>:\n"));
    CHECK(!test::holds(text, "<end>"));
    CHECK(text.ends_with("fma.4h fa3, fa0, fa1, fa2\n"));
    CHECK(text.starts_with("000"));
  }

  TEST_CASE("a label without a size is listed to the next one") {
    const std::string text = listing("worker");
    CHECK(test::holds(text, "rpt t1, "));
    CHECK(!test::holds(text, "ld4"));
  }

  TEST_CASE("a symbol that is not there names the nearest") {
    const std::string text = test::refusal([&] { return listing("sample_lop"); });
    CHECK(test::holds(text, "has no symbol sample_lop; did you mean sample_loop?"));
  }

  TEST_CASE("words that are no instructions are shown as words, odd bytes are left out") {
    const std::byte bytes[6] = {std::byte{0xff}, std::byte{0xff}, std::byte{0xff},
                                std::byte{0xff}, std::byte{1},    std::byte{2}};
    std::ostringstream out;
    tessera::isa::list(out, bytes, 0x40, {});
    CHECK(out.str() == "      40:  ffffffff  .word 0xffffffff\n");
  }
}
