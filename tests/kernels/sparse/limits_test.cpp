#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/cli/command.h"
#include "tests/sanitized.h"

using tessera::test::check_refused;
using tessera::test::CommandFolder;
using tessera::test::kSanitized;

/// Huge, nearly empty sparse products: planned or refused within seconds.
namespace {

/// A call limited to `seconds` of processor time.
std::string within(int seconds, const std::string& arguments) {
  return fmt::format("--version >.version && (ulimit -S -t {}; exec {} {})", seconds,
                     TESSERA_PROGRAM, arguments);
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("planning costs what is there: one nonzero among 16.7 million rows takes no 8 s") {
    const CommandFolder folder{
        {"one.mtx", "%%MatrixMarket matrix coordinate real general\n16777216 16 1\n5 3 2.5\n"}};
    for (const char* block : {"1", "8"}) {
      folder.write("one.json", fmt::format(R"({{"machine": "bow", "workload":
        {{"kernel": "spmm_static", "matrix": "one.mtx", "block": {}, "n": 1}}}})",
                                           block));
      folder.done(within(kSanitized ? 80 : 8, "check one.json"));
    }
  }

  TEST_CASE("a seeded W that no SRAM holds is refused before it is made") {
    const CommandFolder folder;
    for (const char* kernel : {"spmm_static", "spmm_dynamic"}) {
      folder.write("large.json", fmt::format(R"({{"machine": {{"extends": "bow", "tiles": 2}},
        "workload": {{"kernel": "{}", "m": 4194303, "k": 128, "n": 3, "density": 1.0}}}})",
                                             kernel));
      check_refused(folder, within(2, "check large.json"),
                    {"with 536870784 blocks of 1 x 1, 536870784 elements, allowed up to 319488: "
                     "the SRAM of all tiles"});
    }
  }

  TEST_CASE("an X and a Y that no SRAM holds are refused before W is made") {
    const CommandFolder folder;
    for (const char* kernel : {"spmm_static", "spmm_dynamic"}) {
      folder.write("large.json", fmt::format(R"({{"machine": "bow", "workload":
        {{"kernel": "{}", "m": 16777216, "k": 65536, "n": 65536, "density": 0.0001}}}})",
                                             kernel));
      check_refused(folder, within(2, "check large.json"),
                    {"found an X of 65536 x 65536 and a Y of 16777216 x 65536, 1103806595072 "
                     "elements, allowed up to 235143168: the SRAM of all tiles"});
    }
  }
}
