#include "sim/engine/call_summary.h"

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/taint_walk.h"
#include "tests/sim/engine/assembled.h"
#include "tests/sim/engine/random_program.h"

namespace {

using namespace tessera::engine;
using namespace tessera::engine::test;

constexpr std::uint32_t kMemory = 4096;
constexpr std::uint32_t kFirst = 1024;  ///< argument blocks
constexpr std::uint32_t kSecond = 1040;
constexpr std::uint32_t kValues = 2048;  ///< contents unknown
constexpr std::uint32_t kArgument = 10;

/// The state after a call.
struct Left {
  KnownRegisters registers;
  std::uint64_t steps;
  std::optional<CallSummary> summary;
};

/// Calls of a program on one memory: by a taint walk, or by a summary.
class Calls {
 public:
  Calls(const std::vector<Instruction>& program, std::uint32_t bytes)
      : memory(bytes), code_(encoded(program), Role::worker) {}

  /// nullopt: the walk refuses the call.
  std::optional<Left> walk(const KnownRegisters& before) {
    Context context;
    context.integers = &integers_;
    TaintWalk walk(code_, context, memory, sets_);
    walk.forget_registers();
    for (std::uint32_t i = 1; i < kRegisters; ++i)
      if ((before.known >> i & 1U) != 0) walk.know(i, before.x[i]);
    CallRecorder recorder(context.x, before.known);
    walk.record(recorder);
    Exit exit{};
    if (!walk.run(exit) || exit.stop != Stop::end_worker) return std::nullopt;
    memory.forget_own();
    Left walked{{}, walk.steps(), {}};
    for (std::uint32_t i = 0; i < kRegisters; ++i)
      if (walk.knows(i)) {
        walked.registers.known |= 1U << i;
        walked.registers.x[i] = context.x[i];
      }
    walked.summary = recorder.finish(walked.registers.known);
    return walked;
  }
  std::optional<KnownRegisters> apply(const CallSummary& summary, const KnownRegisters& before) {
    auto after = summary.apply(before, memory, sets_);
    memory.forget_own();
    return after;
  }
  void set(std::uint32_t address, std::vector<std::uint32_t> words) {
    memory.know(address, std::as_bytes(std::span(words)));
  }
  [[nodiscard]] bool knows(std::uint32_t address) {
    return memory.read(address, 4, TaintedMemory::Who::worker, sets_) == kKnown;
  }
  TaintedMemory memory;

 private:
  WalkCode code_;
  TaintSets sets_;
  tessera::packed::IntegerUnit integers_;
};

/// Two argument blocks of three words: an address, a count, the values' end address.
class TwoCalls : public Calls {
 public:
  explicit TwoCalls(const std::vector<Instruction>& program) : Calls(program, kMemory) {
    set(kFirst, {kValues, 3, kValues + 12});
  }
  /// Records a summary of the first block's call; false if the call has none.
  bool record() {
    const std::optional<Left> walked = walk(of(kFirst));
    REQUIRE(walked);
    summary_ = walked->summary;
    return summary_.has_value();
  }
  /// The registers after the second block's call, computed by the summary.
  std::optional<KnownRegisters> apply(std::uint32_t argument = kSecond, std::uint32_t more = 0,
                                      std::uint32_t value = 0) {
    KnownRegisters before = of(argument);
    before.known |= more;
    for (std::uint32_t i = 0; i < kRegisters; ++i)
      if ((more >> i & 1U) != 0) before.x[i] = value;
    return Calls::apply(*summary_, before);
  }
  /// True if the summary is valid for a second block with these words.
  bool stands_for(std::vector<std::uint32_t> words) {
    set(kSecond, std::move(words));
    return apply().has_value();
  }

 private:
  static KnownRegisters of(std::uint32_t argument) {
    KnownRegisters registers{.known = 1 | 1U << kArgument};
    registers.x[kArgument] = argument;
    return registers;
  }
  std::optional<CallSummary> summary_;
};

/// x6 = address, x5 = count: doubles `count` values.
std::vector<Instruction> doubling() {
  return {i_type(lw, 6, 10, 0),    i_type(lw, 5, 10, 4),      i_type(flw, 1, 6, 0),
          r_type(fadd_s, 1, 1, 1), s_type(fsw, 1, 6, 0),      i_type(addi, 6, 6, 4),
          i_type(addi, 5, 5, -1),  branch_to(bne, 5, 0, -20), end()};
}

/// A random program with five pointers, numbers in x4 to x8, and one kilobyte of known words.
class RandomCall : public Calls {
 public:
  explicit RandomCall(std::uint32_t seed) : Calls(RandomProgram(seed).make(2), kBytes) {
    std::vector<std::uint32_t> words(256);
    for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = 8 * (i * 37 % 64);
    set(kBytes / 2, words);
  }
  static KnownRegisters begun(std::mt19937& random) {
    KnownRegisters registers;
    const auto below = [&](std::uint32_t most) {
      return static_cast<std::uint32_t>(random() % most);
    };
    registers.known = 1;
    for (std::uint32_t i = 4; i < 9; ++i) registers.x[i] = below(6);
    for (std::uint32_t i = 10; i < 15; ++i)
      registers.x[i] = 8 * below(64) + (below(3) == 0 ? kBytes / 2 : kBytes / 4);
    for (const std::uint32_t i : {4U, 5U, 6U, 7U, 8U, 10U, 11U, 12U, 13U, 14U})
      if (below(16) != 0) registers.known |= 1U << i;
    for (std::uint32_t i = 15; i < kRegisters; ++i)
      if (below(2) != 0) registers.known |= 1U << i;
    return registers;
  }
  /// Addresses of the known words.
  std::vector<std::uint32_t> known() {
    std::vector<std::uint32_t> all;
    for (std::uint32_t at = 0; at < kBytes; at += 4)
      if (knows(at)) all.push_back(at);
    return all;
  }

 private:
  static constexpr std::uint32_t kBytes = 8192;
};

}  // namespace

TEST_SUITE("engine") {
  TEST_CASE("a summary of a random program leaves what a walk of the same call does") {
    int stood = 0;
    for (std::uint32_t seed = 0; seed < 6000; ++seed) {
      CAPTURE(seed);
      std::mt19937 random(seed);
      const std::optional<Left> recorded = RandomCall(seed).walk(RandomCall::begun(random));
      if (!recorded || !recorded->summary) continue;
      for (int other = 0; other < 4; ++other) {
        const KnownRegisters before = RandomCall::begun(random);
        RandomCall by_summary(seed), walked(seed);
        const auto after = by_summary.apply(*recorded->summary, before);
        if (!after) continue;
        ++stood;
        const std::optional<Left> wanted = walked.walk(before);
        REQUIRE(wanted);
        CHECK(wanted->steps == recorded->steps);
        // A summary knows no register that the recorded call did not know.
        CHECK((after->known & ~wanted->registers.known) == 0);
        for (std::uint32_t i = 0; i < kRegisters; ++i)
          if ((after->known >> i & 1U) != 0) CHECK(after->x[i] == wanted->registers.x[i]);
        CHECK(std::ranges::includes(walked.known(), by_summary.known()));
      }
    }
    MESSAGE(stood, " calls by summaries");
    CHECK(stood > 100);
  }

  TEST_CASE("a summary stands for a call with another address") {
    TwoCalls calls(doubling());
    calls.set(3000, {7});
    calls.set(kSecond, {2992, 3, 0});
    REQUIRE(calls.record());
    CHECK(calls.knows(3000));
    const auto after = calls.apply();
    REQUIRE(after);
    CHECK(after->x[6] == 2992 + 12);
    CHECK(!calls.knows(3000));
    CHECK(calls.memory.take_overwritten());
  }

  TEST_CASE("a summary stands for no call with another count, or out of memory, or not aligned") {
    TwoCalls calls(doubling());
    REQUIRE(calls.record());
    for (const std::vector<std::uint32_t>& block :
         {std::vector<std::uint32_t>{3000, 4, 0}, {kMemory - 8, 3, 0}, {3002, 3, 0}})
      CHECK(!calls.stands_for(block));
    CHECK(!calls.apply(kValues));  // its words are values
    CHECK(calls.stands_for({3004, 3, 0}));
  }

  TEST_CASE("registers that a call leaves alone may be known or not, those that it reads may not") {
    TwoCalls calls({i_type(lw, 6, 10, 0), r_type(add, 7, 7, 6), i_type(addi, 8, 0, 3), end()});
    REQUIRE(calls.record());
    calls.set(kSecond, {3000, 0, 0});
    const auto after = calls.apply(kSecond, 1U << 20 | 1U << 8, 77);
    REQUIRE(after);
    CHECK((after->known >> 20 & 1U) != 0);
    CHECK(after->x[20] == 77);
    CHECK(after->x[8] == 3);
    CHECK((after->known >> 7 & 1U) == 0);
    CHECK(!calls.apply(kSecond, 1U << 7, 77));
  }

  TEST_CASE("accesses near two addresses decide by their distance") {
    TwoCalls calls({i_type(lw, 6, 10, 0), i_type(lw, 7, 10, 8), r_type(ldst, 1, 6, 7), end()});
    calls.set(kFirst, {kValues, 0, kValues + 16});
    REQUIRE(calls.record());
    CHECK(calls.stands_for({3000, 0, 3016}));
    CHECK(!calls.stands_for({3000, 0, 3032}));
  }

  TEST_CASE("loops to an end address stand for loops of the same length") {
    TwoCalls calls({i_type(lw, 6, 10, 0), i_type(lw, 5, 10, 8), i_type(flw, 1, 6, 0),
                    i_type(addi, 6, 6, 4), branch_to(bltu, 6, 5, -8), end()});
    REQUIRE(calls.record());
    CHECK(calls.stands_for({3000, 0, 3012}));
    CHECK(!calls.stands_for({3000, 0, 3016}));
  }

  TEST_CASE("a summary stands for no call that stores over what it reads") {
    TwoCalls calls(doubling());
    REQUIRE(calls.record());
    CHECK(!calls.stands_for({kSecond - 8, 3, 0}));
  }

  TEST_CASE("an address that the call has kept in memory is an address still") {
    TwoCalls calls({i_type(lw, 6, 10, 0), s_type(sw, 6, 10, 256), i_type(lw, 7, 10, 256),
                    s_type(fsw, 1, 7, 0), end()});
    REQUIRE(calls.record());
    calls.set(kSecond, {3000, 0, 0});
    const auto after = calls.apply();
    REQUIRE(after);
    CHECK(after->x[7] == 3000);
    // A transfer in flight may write there.
    calls.memory.receive(kSecond + 256, 4);
    CHECK(!calls.apply());
  }

  TEST_CASE("there is no summary of a call with very many stores that are not evenly apart") {
    std::vector<Instruction> program{i_type(lw, 6, 10, 0)};
    for (std::int32_t offset = -1800; offset < 1800; offset += 12) {
      program.push_back(s_type(fsh, 1, 6, offset));
      program.push_back(s_type(fsw, 1, 6, offset + 4));
    }
    program.push_back(end());
    CHECK(!TwoCalls(program).record());
  }

  TEST_CASE("the difference of two addresses is a distance, on which calls may decide") {
    TwoCalls calls({i_type(lw, 6, 10, 0), i_type(lw, 5, 10, 8), r_type(sub, 5, 5, 6),
                    branch_to(rpt, 5, 0, 8), nop(), end()});
    REQUIRE(calls.record());
    CHECK(calls.stands_for({3000, 0, 3012}));
    CHECK(!calls.stands_for({3000, 0, 3020}));
  }
}
