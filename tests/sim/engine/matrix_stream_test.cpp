#include "sim/engine/matrix_stream.h"

#include <cstring>
#include <random>
#include <utility>

#include <doctest/doctest.h>

#include "sim/engine/timing.h"
#include "tests/sim/engine/assembled.h"

namespace tessera::engine::test {
namespace {

/// A loop body of a dense product: phases 1, 2, ..., 0; results alternate between f3 and f2; x is
/// in f0; partials are loaded into f1, or are f31.
struct Kind {
  Mnemonic unit;
  MatrixShape shape;
  bool accumulates;

  [[nodiscard]] unsigned phases() const { return shape.phases(); }
  [[nodiscard]] TileConfig tile() const {
    TileConfig tile;
    (unit == amp_h    ? tile.matrix_unit.f16
     : unit == amp_hs ? tile.matrix_unit.f16_f32
                      : tile.matrix_unit.f32) = shape;
    return tile;
  }
  [[nodiscard]] Instruction amp(unsigned phase) const {
    Instruction made = r_type(unit, phase % 2 == 0 ? 2 : 3, 0, accumulates ? 1 : 31);
    made.imm = static_cast<std::int32_t>(phase == 0 ? 8 : packed::amp_number(phase));
    return made;
  }
  [[nodiscard]] Instruction move(unsigned phase) const {
    const int stored = phase % 2 == 0 ? 3 : 2;
    const unsigned next = (phase + 1) % phases();
    const bool x = next % (phases() / shape.x_words()) == 0;
    const bool p = accumulates && next < shape.partial_words();
    const bool out = (phase + phases() - 1) % phases() < shape.partial_words();
    if (x && p) return out ? r_type(ld2st, 0, 0, stored, 1) : r_type(ld2, 0, 28, 29, 1);
    if (x) return out ? r_type(ldst, 0, 28, 30, stored) : i_type(fld_p, 0, 28, 8);
    return p ? r_type(ldst, 1, 29, 30, stored) : s_type(fsd_p, stored, 30, 8);
  }
};

/// The shipped shapes, and shapes that exercise each kind of loads and stores.
std::vector<Kind> kinds() {
  std::vector<Kind> made;
  const auto add = [&](Mnemonic unit, MatrixShape shape) {
    for (const bool accumulates : {true, false}) made.push_back({unit, shape, accumulates});
  };
  for (const auto& [inputs, outputs] :
       {std::pair{16U, 16U}, {16U, 8U}, {32U, 4U}, {8U, 32U}, {64U, 64U}, {8U, 8U}}) {
    add(amp_h, {inputs, outputs, 1, 2, 2, 1});
  }
  for (const auto& [inputs, outputs] : {std::pair{16U, 8U}, {64U, 4U}, {16U, 32U}, {64U, 64U}})
    add(amp_hs, {inputs, outputs, 2, 2, 4, 1});
  for (const auto& [inputs, outputs] : {std::pair{8U, 16U}, {8U, 8U}, {16U, 4U}, {4U, 8U}})
    add(amp_s, {inputs, outputs, 1, 4, 4, 1});
  return made;
}

std::vector<Instruction> stream(const Kind& kind) {
  const int bytes = static_cast<int>(4 + 8 * kind.phases());
  std::vector<Instruction> code = {nop(), branch_to(rpt, 1, 0, bytes)};
  for (unsigned i = 1; i <= kind.phases(); ++i) {
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
  // f16 values between 2^-4 and 2^3 in every lane, occasionally any bits.
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

bool same(const Assembled& left, const Assembled& right) {
  return test::same(left.context, right.context) && left.banks() == right.banks();
}

void compare(const Kind& kind, const Places& places, std::uint32_t seed) {
  CAPTURE(seed);
  CAPTURE(kind.shape.inputs);
  CAPTURE(kind.shape.outputs);
  CAPTURE(kind.accumulates);
  Assembled fused(stream(kind), Role::worker, kind.tile(), true);
  Assembled single(stream(kind), Role::worker, kind.tile(), false);
  prepare(fused, places, seed);
  prepare(single, places, seed);
  const Exit wanted = single.run();
  const Exit found = fused.run();
  CHECK(found.stop == wanted.stop);
  CHECK(found.fault == wanted.fault);
  CHECK(found.pc == wanted.pc);
  CHECK(found.address == wanted.address);
  CHECK(same(fused, single));
  CHECK(fused.memory() == single.memory());
}

TEST_SUITE("unit") {
  TEST_CASE("streams past the matrix unit at once are what their instructions do") {
    std::mt19937 source(1);
    const std::vector<Kind> all = kinds();
    for (std::uint32_t seed = 0; seed < 100 * all.size(); ++seed) {
      const auto passes = static_cast<std::uint32_t>(1 + source() % 20);
      const Kind& kind = all[seed % all.size()];
      compare(kind, {1032, 2056, 3072, passes % 12}, seed);                   // disjoint ranges
      compare(kind, {1032, 2056, 2056 - 32 - 8 * (seed % 5), passes}, seed);  // in place
      compare(kind, {2056, 3080, 1024, passes}, seed);                        // up to the inputs
      // Anywhere: overlapping, leaving memory, storing into code.
      const auto place = [&] { return 8 + 8 * static_cast<std::uint32_t>(source() % 511); };
      compare(kind, {place(), place(), place(), passes}, seed);
    }
  }

  TEST_CASE("bodies of these kinds are streams, and others are not") {
    for (const Kind& kind : kinds()) {
      const Timing timing(Role::worker, kind.tile());
      const std::vector<Instruction> code = stream(kind);
      std::vector<Instruction> body(code.begin() + 2, code.end() - 1);
      const auto found = find_matrix_stream(body, timing.shapes());
      REQUIRE(found);
      CHECK(found->start == body.size() - 2);
      for (std::size_t i = 0; i < body.size(); ++i) {
        std::vector<Instruction> other = body;
        other[i].rd = other[i].rd == 9 ? 10 : 9;
        other[i].imm ^= 16;
        CHECK_FALSE(find_matrix_stream(other, timing.shapes()));
      }
    }
  }

  TEST_CASE("a position takes its phases times the interval") {
    for (const Kind& kind : kinds()) {
      Assembled program(stream(kind), Role::worker, kind.tile(), true);
      prepare(program, {1032, 2056, 3072, 3}, 5);
      CHECK(program.run().stop == Stop::end_worker);
      // An instruction after the last phase does not wait for the unit.
      const std::uint32_t interval = kind.shape.interval;
      CHECK(program.context.slots == 1 + 1 + (3 * kind.phases() - 1) * interval + 1 + 1);
      CHECK(program.context.flops == std::uint64_t{2} * 3 * kind.shape.inputs * kind.shape.outputs);
    }
  }

  TEST_CASE("registers that do not hold the words before the stream change nothing") {
    const Kind kind = kinds()[0];
    Assembled fused(stream(kind), Role::worker, kind.tile(), true);
    Assembled single(stream(kind), Role::worker, kind.tile(), false);
    for (Assembled* each : {&fused, &single}) {
      prepare(*each, {1032, 2056, 3072, 9}, 5);
      each->context.f[0] ^= 1;
      CHECK(each->run().stop == Stop::end_worker);
    }
    CHECK(same(fused, single));
    CHECK(fused.memory() == single.memory());
    CHECK(fused.context.slots == 1 + 1 + 9 * 4 + 1);
  }

  TEST_CASE("a phase or a type that the unit does not have is an illegal instruction") {
    const Kind small{amp_h, {16, 8, 1, 2, 2, 1}, true};
    Instruction beyond = small.amp(3);
    beyond.imm = 4;
    for (const Instruction& unknown : {beyond, Kind{amp_s, {}, true}.amp(0)}) {
      Assembled program({unknown, end()}, Role::worker, small.tile());
      CHECK(program.run().fault == Fault::illegal_instruction);
    }
    Assembled supervisor({small.amp(0), end()}, Role::supervisor, small.tile());
    CHECK(supervisor.run().fault == Fault::not_allowed_here);
  }
}

}  // namespace
}  // namespace tessera::engine::test
