#include "sim/elf/codelet.h"

#include <cstring>
#include <string>

#include <doctest/doctest.h>

#include "sim/base/embedded.h"
#include "sim/base/errors.h"
#include "tests/refusal.h"

using namespace tessera;

namespace {

constexpr const char* kSample = "tests/sim/elf/sample/codelets.elf";

elf::Program sample() { return elf::read(embedded::find(kSample), kSample); }

/// The sample program with a function's first words replaced.
elf::Program patched(const std::string& function, std::vector<std::uint32_t> words) {
  elf::Program file = sample();
  for (const elf::Symbol& symbol : file.symbols) {
    if (symbol.name != function) continue;
    elf::Segment& segment = file.segments.at(0);
    std::memcpy(segment.bytes.data() + (symbol.address - segment.address), words.data(),
                words.size() * sizeof(std::uint32_t));
  }
  return file;
}

std::string codelets_error(const elf::Program& file) {
  return test::refusal([&] { return elf::codelets(file); });
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("tile code built with the tests is found by its path") {
    CHECK(!embedded::find(kSample).empty());
    CHECK(embedded::find("tests/nothing").empty());
    const auto files = embedded::files("tests/sim/elf/");
    REQUIRE(files.size() == 1);
    CHECK(files[0].name == kSample);
  }

  TEST_CASE("every global function becomes a codelet") {
    const auto codelets = elf::codelets(sample());
    REQUIRE(codelets.size() == 2);
    CHECK(codelets[0].name == "sample_axpy");
    CHECK(codelets[1].name == "sample_loop");
    CHECK(codelets[1].code.size() == 14 * 4);
  }

  TEST_CASE("double arithmetic is rejected with address and word") {
    const std::string message = codelets_error(patched("sample_loop", {0x02c5f553}));  // fadd.d
    test::check_holds(message,
                      {"codelet sample_loop: 0x", ".word 0x02c5f553: double-precision arithmetic"});
    CHECK(test::holds(codelets_error(patched("sample_loop", {0xd2050553})), "double"));
    CHECK(test::holds(codelets_error(patched("sample_loop", {0x40157553})), "double"));
    CHECK(test::holds(codelets_error(patched("sample_loop", {0x6ac5f543})), "double"));
  }

  TEST_CASE("an unknown word is rejected") {
    CHECK(test::holds(codelets_error(patched("sample_loop", {0})), "no instruction"));
  }

  TEST_CASE("calls, branches and addresses outside the function are rejected") {
    const std::string jump =
        codelets_error(patched("sample_loop", {0x7fd000ef}));  // jal ra, .+4092
    CHECK(test::holds(jump, "outside the codelet"));
    CHECK(test::holds(codelets_error(patched("sample_loop", {0xfe000ee3})), "outside"));
    // auipc a0, 0; addi a0, a0, 2047
    CHECK(test::holds(codelets_error(patched("sample_loop", {0x00000517, 0x7ff50513})), "outside"));
    // The same code with an address inside.
    CHECK(codelets_error(patched("sample_loop", {0x00000517, 0x00850513})).empty());
  }

  TEST_CASE("functions without size, alignment or place are rejected") {
    elf::Program file = sample();
    for (elf::Symbol& symbol : file.symbols) symbol.size = 0;
    CHECK(test::holds(codelets_error(file), "has no size"));
    file = sample();
    for (elf::Symbol& symbol : file.symbols) symbol.address += 4;
    CHECK(test::holds(codelets_error(file), "multiple of 8"));
    file = sample();
    for (elf::Symbol& symbol : file.symbols) symbol.address += 1 << 20;
    CHECK(test::holds(codelets_error(file), "outside the executable segments"));
    file = sample();
    file.relocations = true;
    CHECK(test::holds(codelets_error(file), "relocations"));
  }

  TEST_CASE("asking for a codelet that was not built is our own bug") {
    CHECK_THROWS_AS(elf::embedded_codelet("nothing", "nothing"), Defect);
  }
}
