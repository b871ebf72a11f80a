#include <sys/mman.h>

#include <doctest/doctest.h>

#include "tests/sim/engine/assembled.h"

namespace tessera::engine::test {
namespace {

constexpr std::uint32_t kPlace = 1024;

/// Memory pages without access rights: any access raises a signal.
class Forbidden {
 public:
  Forbidden() : base_(mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Forbidden() { munmap(base_, kBytes); }
  Forbidden(const Forbidden&) = delete;
  Forbidden& operator=(const Forbidden&) = delete;
  [[nodiscard]] bool made() const { return base_ != MAP_FAILED; }
  [[nodiscard]] const std::byte* bytes() const { return static_cast<const std::byte*>(base_); }

 private:
  static constexpr std::size_t kBytes = Assembled::kSize;
  void* base_;
};

/// Loads of all kinds that prefetch from the memory of the next tile.
std::vector<Instruction> wide_loads() {
  return {i_type(fld, 1, 10, 8),     i_type(fld_p, 2, 10, 8),
          r_type(ld2, 3, 10, 11, 4), r_type(lgx_d, 5, 10, 12),
          r_type(lgx_s, 6, 10, 12),  r_type(lgx_h, 7, 10, 12),
          i_type(fld, 8, 13, 0),     end()};
}

TEST_SUITE("unit") {
  TEST_CASE("the location of the next tile's memory changes nothing, and it is not read") {
    const Forbidden forbidden;
    REQUIRE(forbidden.made());
    for (const bool faults : {false, true}) {
      CAPTURE(faults);
      Assembled with(wide_loads()), without(wide_loads());
      for (Assembled* each : {&with, &without}) {
        for (std::uint32_t at = kPlace; at < Assembled::kSize; at += 4) each->word(at, at / 512);
        for (const int pointer : {10, 11, 12, 13}) each->context.x[pointer] = kPlace;
        if (faults) each->context.x[13] = Assembled::kSize;
        TileMemory memory = each->view();
        if (each == &with) memory.next = forbidden.bytes();
        const Exit exit = engine::run(each->code(), each->context, memory, 1000);
        CHECK((exit.stop == Stop::fault) == faults);
      }
      CHECK(engine::test::same(with.context, without.context));
      CHECK(with.memory() == without.memory());
    }
  }
}

}  // namespace
}  // namespace tessera::engine::test
