#include <cstdlib>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/isa/intrinsics.h"
#include "tests/cli/command.h"

using namespace tessera::test;

/// Runs programs of other compilers and linkers, built with default options, with `exec`.
namespace {

constexpr const char* kDot = R"(
static float a[64], b[64];
int data = 7;
const int table[4] = {1, 2, 3, 4};
static float dot(const float* x, const float* y, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}
int main(void) {
  for (int i = 0; i < 64; ++i) { a[i] = (float)i; b[i] = 2.0f; }
  return (int)dot(a, b, 64) == 4032 ? data + table[2] : 1;
}
)";

/// Sorts with picolibc's qsort, and calls its memcpy and strlen.
constexpr const char* kLibrary = R"(
#include <stdlib.h>
#include <string.h>
static int numbers[] = {5, 3, 9, 1};
static int less(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
int main(void) {
  char text[8];
  memcpy(text, "hello", 6);
  qsort(numbers, 4, sizeof(int), less);
  return (int)strlen(text) * 10 + numbers[3];
}
void _exit(int code) {
  register int a0 __asm__("a0") = code;
  register int a7 __asm__("a7") = 93;
  __asm__ volatile("ecall" ::"r"(a0), "r"(a7));
  for (;;) {}
}
)";

constexpr const char* kPrints = R"(
#include <stdio.h>
int main(void) {
  printf("%d of %s: %x\n", 42, "them", 255);
  fprintf(stderr, "aside\n");
  return 7;
}
)";

constexpr const char* kPackedSum = R"(
#include "xtile.h"
int main() {
  float a[2] = {1, 2}, b[2] = {3, 4}, c[2];
  float *at = a, *bt = b;
  const double sum = xtile::add_2s(xtile::fld_p<8>(at), xtile::fld_p<8>(bt));
  __builtin_memcpy(c, &sum, 8);
  return int(c[0] * 10 + c[1]);
}
)";

constexpr const char* kGcc = "riscv64-unknown-elf-gcc -march=rv32imf -mabi=ilp32f -O2";

bool gcc_links(const CommandFolder& folder, const std::string& options) {
  folder.write("empty.c", "int main(void) { return 0; }\nvoid _exit(int code) { for (;;) {} }\n");
  const bool there = std::system(fmt::format("cd {} && {} {} empty.c -o empty.elf 2> said",
                                             folder.path().string(), kGcc, options)
                                     .c_str()) == 0;
  if (!there) MESSAGE("skipped: no riscv64-unknown-elf-gcc that links with " << options);
  return there;
}

/// Compiles the source with gcc; the exit code of the program under `exec`.
int exit_code(const CommandFolder& folder, const std::string& source, const std::string& options) {
  folder.write("a.c", source);
  const std::string call =
      fmt::format("cd {} && {} {} a.c -o a.elf", folder.path().string(), kGcc, options);
  REQUIRE(std::system(call.c_str()) == 0);
  const Answer answer = folder.call("exec a.elf");
  CHECK_MESSAGE(holds(answer.err, "the program's own exit code"), answer.err);
  return answer.code;
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("exec runs what gcc and ld link without a library, gp and return included") {
    const CommandFolder folder;
    if (!gcc_links(folder, "-nostdlib -e main")) return;
    for (const char* options :
         {"", "-Wl,--no-relax", "-Wl,-N", "-Wl,-Ttext=0x400", "-O0", "-Os -msave-restore -lgcc"}) {
      INFO(options);
      CHECK(exit_code(folder, kDot, fmt::format("-nostdlib -e main {}", options)) == 10);
    }
  }

  TEST_CASE("gcc compiles the include file of tile code, but for functions of f16 scalars") {
    const CommandFolder folder{{"xtile.h", tessera::isa::intrinsics_header()}};
    if (!gcc_links(folder, "-nostdlib -e main")) return;
    CHECK(exit_code(folder, kPackedSum,
                    "-march=rv32imfd -mabi=ilp32d -nostdlib -e main -std=c++20 -x c++") == 46);
  }

  TEST_CASE("exec runs programs with picolibc and its start-up code") {
    const CommandFolder folder;
    const std::string options =
        "--specs=picolibc.specs --crt0=hosted -Wl,--defsym=__flash=0 -Wl,--defsym=__ram=0x20000";
    if (!gcc_links(folder, options)) return;
    CHECK(exit_code(folder, kLibrary, options) == 59);
  }

  TEST_CASE("exec and profile run what prints by picolibc's printf, and know its exit code") {
    const CommandFolder folder;
    const std::string options =
        "--specs=picolibc.specs --crt0=hosted --oslib=semihost -Wl,--defsym=__flash=0 "
        "-Wl,--defsym=__ram=0x20000";
    if (!gcc_links(folder, options)) return;
    CHECK(exit_code(folder, kPrints, options) == 7);
    const std::string printed = "42 of them: ff\naside\n";
    CHECK(folder.call("exec a.elf").out == printed);
    CHECK(holds(folder.call("profile a.elf").out, printed));
  }

  TEST_CASE("a program linked for addresses that no tile has is told where memory ends") {
    const CommandFolder folder;
    const std::string options = "--specs=picolibc.specs --crt0=hosted";
    if (!gcc_links(folder, options)) return;
    check_refused(folder, "exec empty.elf",
                  {"empty.elf: the segment at 0x10000", "memory at 0x9c000; link it lower"});
  }
}
