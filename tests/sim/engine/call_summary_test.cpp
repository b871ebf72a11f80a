#include "sim/engine/call_summary.h"

#include <cstring>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/taint_walk.h"
#include "tests/sim/engine/assembled.h"

namespace {

using namespace tessera::engine;
using namespace tessera::engine::test;

constexpr std::uint32_t kMemory = 4096;
constexpr std::uint32_t kFirst = 1024;  ///< argument blocks
constexpr std::uint32_t kSecond = 1040;
constexpr std::uint32_t kValues = 2048;  ///< unknown
constexpr std::uint32_t kArgument = 10;

/// Two argument blocks of three words: an address, a count, the address behind the values.
class TwoCalls {
 public:
  explicit TwoCalls(const std::vector<Instruction>& program)
      : code_(encoded(program), Role::worker), memory_(kMemory) {
    set(kFirst, {kValues, 3, kValues + 12});
  }
  void set(std::uint32_t address, std::vector<std::uint32_t> words) {
    memory_.know(address, std::as_bytes(std::span(words)));
  }
  /// Records the call of the first block; false if there is no summary of it.
  bool record() {
    Context context;
    context.integers = &integers_;
    TaintWalk walk(code_, context, memory_, sets_);
    walk.forget_registers();
    walk.know(kArgument, kFirst);
    CallRecorder recorder(context.x, known(kFirst).known);
    walk.record(recorder);
    Exit exit{};
    REQUIRE(walk.run(exit));
    memory_.forget_own();
    std::uint32_t left = 0;
    for (std::uint32_t i = 0; i < kRegisters; ++i) left |= walk.knows(i) ? 1U << i : 0;
    summary_ = recorder.finish(left);
    return summary_.has_value();
  }
  /// The second block's call, by the summary.
  std::optional<KnownRegisters> apply(std::uint32_t argument = kSecond) {
    auto after = summary_->apply(known(argument), memory_, sets_);
    memory_.forget_own();
    return after;
  }
  [[nodiscard]] bool knows(std::uint32_t address) {
    return memory_.read(address, 4, TaintedMemory::Who::worker, sets_) == kKnown;
  }
  TaintedMemory& memory() { return memory_; }

 private:
  static KnownRegisters known(std::uint32_t argument) {
    KnownRegisters registers;
    registers.known = 1 | 1U << kArgument;
    registers.x[kArgument] = argument;
    return registers;
  }

  WalkCode code_;
  TaintedMemory memory_;
  TaintSets sets_;
  tessera::packed::IntegerUnit integers_;
  std::optional<CallSummary> summary_;
};

/// x6 = address, x5 = count: doubles so many values.
std::vector<Instruction> doubling() {
  return {i_type(lw, 6, 10, 0),    i_type(lw, 5, 10, 4),      i_type(flw, 1, 6, 0),
          r_type(fadd_s, 1, 1, 1), s_type(fsw, 1, 6, 0),      i_type(addi, 6, 6, 4),
          i_type(addi, 5, 5, -1),  branch_to(bne, 5, 0, -20), end()};
}

}  // namespace

TEST_SUITE("engine") {
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
    CHECK(calls.memory().take_overwritten());
  }

  TEST_CASE("a summary stands for no call with another count, or out of memory, or not aligned") {
    TwoCalls calls(doubling());
    REQUIRE(calls.record());
    for (const std::vector<std::uint32_t>& block :
         {std::vector<std::uint32_t>{3000, 4, 0}, {kMemory - 8, 3, 0}, {3002, 3, 0}}) {
      calls.set(kSecond, block);
      CHECK(!calls.apply());
    }
    CHECK(!calls.apply(kValues));  // its words are values
  }

  TEST_CASE("loops to an end address stand for loops of the same length") {
    TwoCalls calls({i_type(lw, 6, 10, 0), i_type(lw, 5, 10, 8), i_type(flw, 1, 6, 0),
                    i_type(addi, 6, 6, 4), branch_to(bltu, 6, 5, -8), end()});
    REQUIRE(calls.record());
    calls.set(kSecond, {3000, 0, 3012});
    CHECK(calls.apply());
    calls.set(kSecond, {3000, 0, 3016});
    CHECK(!calls.apply());
  }

  TEST_CASE("a summary stands for no call that stores over what it reads") {
    TwoCalls calls(doubling());
    REQUIRE(calls.record());
    calls.set(kSecond, {kSecond - 8, 3, 0});
    CHECK(!calls.apply());
  }

  TEST_CASE("an address that the call has kept in memory is an address still") {
    TwoCalls calls({i_type(lw, 6, 10, 0), s_type(sw, 6, 10, 256), i_type(lw, 7, 10, 256),
                    s_type(fsw, 1, 7, 0), end()});
    REQUIRE(calls.record());
    calls.set(kSecond, {3000, 0, 0});
    const auto after = calls.apply();
    REQUIRE(after);
    CHECK(after->x[7] == 3000);
    // A transfer under way may write there.
    calls.memory().receive(kSecond + 256, 4);
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

  TEST_CASE("what a call computes from two addresses is a distance, by which it decides") {
    TwoCalls calls({i_type(lw, 6, 10, 0), i_type(lw, 5, 10, 8), r_type(sub, 5, 5, 6),
                    branch_to(rpt, 5, 0, 8), nop(), end()});
    REQUIRE(calls.record());
    calls.set(kSecond, {3000, 0, 3012});
    CHECK(calls.apply());
    calls.set(kSecond, {3000, 0, 3020});
    CHECK(!calls.apply());
  }
}
