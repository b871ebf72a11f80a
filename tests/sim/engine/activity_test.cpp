#include "sim/isa/activity.h"

#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/session.h"
#include "tests/sim/engine/assembled.h"

namespace tessera::engine::test {
namespace {

using isa::Activity;
using isa::ActivityCounts;

/// Activities counted during a program, and its context after the run.
struct Counted {
  ActivityCounts counts{};
  Context context;
  [[nodiscard]] std::uint64_t operator[](Activity which) const { return counts[index(which)]; }
};

Counted count(const std::vector<Instruction>& program, const Context& begin, bool streams,
              bool record = false, std::uint64_t limit = 1'000'000) {
  Assembled made(program, Role::worker, Assembled::with_unit(), streams, {.activity = true});
  std::copy_n(begin.x, 32, made.context.x);
  Counted counted;
  Session session;
  session.count_activity(&counted.counts);
  AccessLog log;
  for (Stop stop = Stop::limit; stop == Stop::limit;) {
    stop = record ? session.run_recording(made.code(), made.context, made.view(), limit, log).stop
                  : session.run(made.code(), made.context, made.view(), limit).stop;
    REQUIRE((stop == Stop::limit || stop == Stop::end_worker));
  }
  session.settle_activity();
  counted.context = made.context;
  return counted;
}

std::uint64_t classes(const ActivityCounts& counts) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < isa::kInstructionClasses; ++i) sum += counts[i];
  return sum;
}

/// saxpy on x1 elements at x2 and x3: a loop that ends in a branch.
std::vector<Instruction> saxpy() {
  return {i_type(flw, 1, 2, 0),
          i_type(flw, 2, 3, 0),
          r_type(fmadd_s, 2, 0, 1, 2),
          s_type(fsw, 2, 3, 0),
          i_type(addi, 2, 2, 4),
          i_type(addi, 3, 3, 4),
          branch_to(bdnz, 1, 0, -24),
          r_type(mul, 4, 2, 3),
          r_type(fdiv_s, 3, 1, 2),
          i_type(csrrs, 5, 0, 0xcc0),
          end()};
}

Context with_arrays(std::uint32_t elements) {
  Context context;
  context.x[1] = elements;
  context.x[2] = 1024;
  context.x[3] = 2048;
  return context;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("a loop's work is counted as often as it is done") {
    for (const bool streams : {true, false}) {
      const Counted counted = count(saxpy(), with_arrays(10), streams);
      CHECK(counted[Activity::memory] == 30);
      CHECK(counted[Activity::bytes_loaded] == 80);
      CHECK(counted[Activity::bytes_stored] == 40);
      CHECK(counted[Activity::f32_adds] == 10);
      CHECK(counted[Activity::f32_multiplies] == 10);
      CHECK(counted[Activity::floating] == 11);
      CHECK(counted[Activity::floating_slots] == 10 + TileConfig{}.slots.float_divide);
      CHECK(counted[Activity::other_slots] == 30 + 20 + 1 + 12);  // one for each of the next four
      CHECK(counted[Activity::integer] == 20);
      CHECK(counted[Activity::integer_multiply] == 1);
      CHECK(counted[Activity::control] == 12);  // branches, a CSR and the end
      CHECK(counted[Activity::float_divides] == 1);
      CHECK(classes(counted.counts) == counted.context.instructions);
    }
  }

  TEST_CASE("counting changes neither results nor cycles") {
    Assembled plain(saxpy());
    std::copy_n(with_arrays(100).x, 32, plain.context.x);
    REQUIRE(plain.run().stop == Stop::end_worker);
    const Counted counted = count(saxpy(), with_arrays(100), true);
    CHECK(counted.context.slots == plain.context.slots);
    CHECK(counted.context.instructions == plain.context.instructions);
    CHECK(counted.context.flops == plain.context.flops);
    CHECK(std::memcmp(counted.context.x, plain.context.x, sizeof plain.context.x) == 0);
  }

  TEST_CASE("stops at limits and recorded accesses count the same") {
    const Counted whole = count(saxpy(), with_arrays(100), true);
    CHECK(whole.counts == count(saxpy(), with_arrays(100), true, false, 13).counts);
    CHECK(whole.counts == count(saxpy(), with_arrays(100), true, true).counts);
  }

  TEST_CASE("a stream of the matrix unit counts every position") {
    std::vector<Instruction> code = {branch_to(rpt, 1, 0, 36)};
    for (const int phase : {1, 2, 3, 0}) {
      Instruction amp = r_type(amp_h, phase % 2 == 0 ? 2 : 3, 0, 1);
      amp.imm = phase == 0 ? 8 : phase;
      code.push_back(amp);
      code.push_back(r_type(ld2st, 0, 0, phase % 2 == 0 ? 3 : 2, 1));
    }
    code.push_back(end());
    Context begin;
    begin.x[1] = 20;
    begin.x[28] = 1024;
    begin.x[29] = 2048;
    begin.x[30] = 3072;
    for (const bool streams : {true, false}) {
      const Counted counted = count(code, begin, streams);
      CHECK(counted[Activity::matrix_f16] == 80 * 64);
      CHECK(counted[Activity::bytes_loaded] == 80 * 16);
      CHECK(counted[Activity::bytes_stored] == 80 * 8);
      CHECK(classes(counted.counts) == counted.context.instructions);
    }
  }
}

}  // namespace tessera::engine::test
