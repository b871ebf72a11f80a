#include "sim/engine/matrix_stream.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <span>

#include <doctest/doctest.h>

#include "tests/sim/engine/assembled.h"

namespace tessera::engine::test {
namespace {

/// A body of gemm and matrix_unit: phases 1, 2, ..., 0, results in f3 and f2 by turns, x in f0;
/// partials come from memory to f1, or are f31.
struct Kind {
  Mnemonic unit;
  bool accumulates;

  [[nodiscard]] int phases() const { return unit == amp_s ? 8 : 4; }
  [[nodiscard]] Instruction amp(int phase) const {
    Instruction made = r_type(unit, phase % 2 == 0 ? 2 : 3, 0, accumulates ? 1 : 31);
    made.imm = phase == 0 ? 8 : phase;
    return made;
  }
  [[nodiscard]] Instruction move(int phase) const {
    const int stored = phase % 2 == 0 ? 3 : 2;
    const bool x = unit != amp_s || phase % 2 == 1;
    if (x && accumulates) return r_type(ld2st, 0, 0, stored, 1);
    if (x) return r_type(ldst, 0, 28, 30, stored);
    return accumulates ? r_type(ldst, 1, 29, 30, stored) : s_type(fsd_p, stored, 30, 8);
  }
};

std::vector<Instruction> stream(const Kind& kind) {
  std::vector<Instruction> code = {nop(), branch_to(rpt, 1, 0, 4 + 8 * kind.phases())};
  for (int i = 1; i <= kind.phases(); ++i) {
    code.push_back(kind.amp(i % kind.phases()));
    code.push_back(kind.move(i % kind.phases()));
  }
  code.push_back(end());
  return code;
}

struct Places {
  std::uint32_t x, partials, out, passes;
};

void prepare(Assembled& program, const Places& places, std::uint32_t seed) {
  std::mt19937 source(seed);
  // f16 numbers between 2^-4 and 2^3 in every lane, now and then anything.
  const auto lanes = [&] {
    const bool any = source() % 64 == 0;
    const auto word = static_cast<std::uint32_t>(source());
    return any ? word : (word & 0x8fff'8fffU) + 0x3000'3000U;
  };
  for (std::size_t at = 1024; at < Assembled::kSize; at += 4) program.word(at, lanes());
  for (std::uint64_t& word : program.weights()) word = std::uint64_t{lanes()} << 32 | lanes();
  Context& context = program.context;
  context.x[1] = places.passes;
  context.x[28] = places.x;
  context.x[29] = places.partials;
  context.x[30] = places.out;
  std::memcpy(&context.f[0], program.memory().data() + places.x - 8, 8);
  std::memcpy(&context.f[1], program.memory().data() + places.partials - 8, 8);
  context.f[31] = std::uint64_t{lanes()} << 32 | lanes();
  context.f[2] = 0x1234'5678'9abc'def0U;
  context.f[3] = 0x0fed'cba9'8765'4321U;
}

/// To the bit, so that NaNs are compared too.
bool same(std::span<const float> a, std::span<const float> b) {
  return std::ranges::equal(std::as_bytes(a), std::as_bytes(b));
}

bool same(const Context& a, const Context& b) {
  return std::equal(a.x, a.x + 32, b.x) && std::equal(a.f, a.f + 32, b.f) && same(a.acc, b.acc) &&
         same(a.exc, b.exc) && a.pc == b.pc && a.fcsr == b.fcsr && a.slots == b.slots &&
         a.instructions == b.instructions && a.flops == b.flops;
}

void compare(const Kind& kind, const Places& places, std::uint32_t seed) {
  CAPTURE(seed);
  CAPTURE(kind.phases());
  CAPTURE(kind.accumulates);
  Assembled fused(stream(kind), Role::worker, {}, true);
  Assembled single(stream(kind), Role::worker, {}, false);
  prepare(fused, places, seed);
  prepare(single, places, seed);
  const Exit wanted = single.run();
  const Exit found = fused.run();
  CHECK(found.stop == wanted.stop);
  CHECK(found.fault == wanted.fault);
  CHECK(found.pc == wanted.pc);
  CHECK(found.address == wanted.address);
  CHECK(same(fused.context, single.context));
  CHECK(fused.memory() == single.memory());
}

TEST_SUITE("unit") {
  TEST_CASE("streams past the matrix unit at once are what their instructions do") {
    std::mt19937 source(1);
    constexpr Mnemonic kUnits[] = {amp_h, amp_hs, amp_s};
    for (std::uint32_t seed = 0; seed < 600; ++seed) {
      const std::uint32_t passes = 1 + source() % 20;
      const Kind kind{kUnits[seed % 3], seed % 2 == 0};
      compare(kind, {1032, 2056, 3072, passes % 12}, seed);                   // apart
      compare(kind, {1032, 2056, 2056 - 32 - 8 * (seed % 4), passes}, seed);  // in place
      compare(kind, {2056, 3080, 1024, passes}, seed);                        // up to the inputs
      // Anywhere: overlapping, leaving memory, storing into code.
      const auto place = [&] { return 8 + 8 * static_cast<std::uint32_t>(source() % 511); };
      compare(kind, {place(), place(), place(), passes}, seed);
    }
  }

  TEST_CASE("bodies of these kinds are streams, and others are not") {
    for (const Mnemonic unit : {amp_h, amp_hs, amp_s}) {
      for (const bool accumulates : {true, false}) {
        const Kind kind{unit, accumulates};
        const std::vector<Instruction> code = stream(kind);
        std::vector<Instruction> body(code.begin() + 2, code.end() - 1);
        const auto found = find_matrix_stream(body);
        REQUIRE(found);
        CHECK(found->start == body.size() - 2);
        for (std::size_t i = 0; i < body.size(); ++i) {
          std::vector<Instruction> other = body;
          other[i].rd = other[i].rd == 9 ? 10 : 9;
          other[i].imm ^= 16;
          CHECK_FALSE(find_matrix_stream(other));
        }
      }
    }
  }

  TEST_CASE("registers that do not hold the words before the stream change nothing") {
    Assembled fused(stream({amp_h, true}), Role::worker, {}, true);
    Assembled single(stream({amp_h, true}), Role::worker, {}, false);
    for (Assembled* each : {&fused, &single}) {
      prepare(*each, {1032, 2056, 3072, 9}, 5);
      each->context.f[0] ^= 1;
      CHECK(each->run().stop == Stop::end_worker);
    }
    CHECK(same(fused.context, single.context));
    CHECK(fused.memory() == single.memory());
    CHECK(fused.context.slots == 1 + 1 + 9 * 4 + 1);
  }
}

}  // namespace
}  // namespace tessera::engine::test
