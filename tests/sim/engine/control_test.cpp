#include <doctest/doctest.h>

#include "tests/sim/engine/assembled.h"

namespace tessera::engine::test {
namespace {

TEST_SUITE("unit") {
  TEST_CASE("an endless loop stops at the limit, where it can be continued") {
    Assembled program({i_type(addi, 1, 1, 1), i_type(jal, 0, 0, -4)});
    const Exit exit = program.run(1000);
    CHECK(exit.stop == Stop::limit);
    CHECK(program.context.slots == 1000);
    CHECK(program.context.x[1] == 500);
    CHECK(program.context.pc == 0);
  }

  TEST_CASE("stopping at limits and going on changes nothing") {
    const std::vector<Instruction> code = {i_type(addi, 3, 0, 40),  r_type(fadd_s, 1, 1, 2),
                                           i_type(addi, 1, 1, 3),   branch_to(rpt, 4, 0, 12),
                                           r_type(fmul_s, 3, 1, 2), i_type(addi, 5, 5, 1),
                                           i_type(addi, 3, 3, -1),  branch_to(bne, 3, 0, -24),
                                           i_type(jalr, 0, 6, 0),   end()};
    const auto prepare = [&](Assembled& program) {
      program.context.x[4] = 7;
      program.context.x[6] = 36;
      program.context.f[1] = program.context.f[2] = 0xffff'ffff'3f80'0001U;
    };
    Assembled whole(code);
    prepare(whole);
    CHECK(whole.run().stop == Stop::end_worker);
    for (const std::uint64_t limit : {1U, 2U, 3U, 10U, 77U}) {
      Assembled parts(code);
      prepare(parts);
      int stops = 0;
      while (stops < 100'000 && parts.run(limit).stop == Stop::limit) ++stops;
      CHECK(stops > 0);
      CHECK(same(parts.context, whole.context));
    }
  }

  TEST_CASE("loops longer than a slice of counting are exact") {
    Assembled program({branch_to(rpt, 1, 0, 8), i_type(addi, 2, 2, 1), end()});
    program.context.x[1] = 3'000'000;
    CHECK(program.run(~std::uint64_t{0}).stop == Stop::end_worker);
    CHECK(program.context.x[2] == 3'000'000);
    CHECK(program.context.instructions == 3'000'002);
    CHECK(program.context.slots == 3'000'002);
    // A limit inside the loop takes effect at the loop's end.
    Assembled limited(
        {branch_to(rpt, 1, 0, 8), i_type(addi, 2, 2, 1), i_type(jal, 0, 0, 4), end()});
    limited.context.x[1] = 3'000'000;
    CHECK(limited.run(1000).stop == Stop::limit);
    CHECK(limited.context.x[2] == 3'000'000);
    CHECK(limited.context.pc == 12);
  }

  TEST_CASE("long straight code is cut into blocks without a difference") {
    std::vector<Instruction> code(1000, i_type(addi, 1, 1, 1));
    for (std::size_t i = 1; i < code.size(); i += 2) code[i] = r_type(fadd_s, 1, 2, 3);
    code.push_back(end());
    Assembled program(code);
    CHECK(program.run().stop == Stop::end_worker);
    CHECK(program.context.x[1] == 500);
    CHECK(program.context.instructions == 1001);
    CHECK(program.context.slots == 501);
  }

  TEST_CASE("fcsr holds flags and mode, and the mode is obeyed at once") {
    // 1 + 2^-24, rounded up and then to nearest.
    Assembled program({i_type(csrrwi, 0, 3, 2), r_type(fadd_s, 3, 1, 2, 0, 7),
                       i_type(csrrwi, 5, 0, 2), r_type(fadd_s, 4, 1, 2, 0, 7),
                       i_type(csrrwi, 6, 0, 1), i_type(csrrs, 7, 0, 3), end()});
    program.context.f[1] = 0xffff'ffff'3f80'0000U;
    program.context.f[2] = 0xffff'ffff'3380'0000U;
    CHECK(program.run().stop == Stop::end_worker);
    CHECK(program.context.f[3] == 0xffff'ffff'3f80'0001U);
    CHECK(program.context.f[4] == 0xffff'ffff'3f80'0000U);
    CHECK(program.context.x[5] == 3);
    CHECK(program.context.x[6] == 1);  // inexact
    CHECK(program.context.x[7] == 0);
    CHECK(program.context.fcsr == 0);
  }

  TEST_CASE("flags are in fcsr after every stop, faults included") {
    Assembled program({r_type(fdiv_s, 3, 1, 2), i_type(lw, 1, 0, 1), end()});
    program.context.f[1] = 0xffff'ffff'3f80'0000U;
    program.context.f[2] = 0xffff'ffff'0000'0000U;
    CHECK(program.run().stop == Stop::fault);
    CHECK(program.context.fcsr == 8);  // divide by zero
  }

  TEST_CASE("badly boxed operands read as the canonical NaN") {
    Assembled program({r_type(fadd_s, 3, 1, 2), r_type(fsgnj_s, 4, 1, 1), end()});
    program.context.f[1] = 0x3f80'0000U;
    program.context.f[2] = 0xffff'ffff'3f80'0000U;
    CHECK(program.run().stop == Stop::end_worker);
    CHECK(program.context.f[3] == 0xffff'ffff'7fc0'0000U);
    CHECK(program.context.f[4] == 0xffff'ffff'7fc0'0000U);
    CHECK(program.context.fcsr == 0);
  }

  TEST_CASE("recording names every byte read and written, and changes nothing") {
    const std::vector<Instruction> code = {branch_to(rpt, 1, 0, 16), r_type(ld2st, 1, 0, 2, 3),
                                           i_type(lbu, 5, 0, 7), r_type(lgx_s, 4, 6, 7), end()};
    const auto prepare = [](Assembled& program) {
      program.context.x[1] = 4;
      program.context.x[28] = 1024;
      program.context.x[29] = 1056;
      program.context.x[30] = 2048;
      program.context.x[6] = 3000;
      program.context.x[7] = 512;
      program.word(512, 1 << 16 | 0);
      program.word(516, 9 << 16 | 2);
    };
    Assembled plain(code);
    prepare(plain);
    CHECK(plain.run().stop == Stop::end_worker);
    Assembled recorded(code);
    prepare(recorded);
    AccessLog log;
    CHECK(recorded.run_recording(log).stop == Stop::end_worker);
    CHECK(same(plain.context, recorded.context));
    CHECK(plain.memory() == recorded.memory());
    CHECK(log.writes() == std::vector<ByteRange>{{2048, 2080}});
    CHECK(log.reads() ==
          std::vector<ByteRange>{{7, 8}, {512, 520}, {1024, 1088}, {3000, 3012}, {3036, 3040}});
  }
}

}  // namespace
}  // namespace tessera::engine::test
