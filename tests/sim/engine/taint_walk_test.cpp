#include "sim/engine/taint_walk.h"

#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/isa/encode.h"
#include "tests/sim/engine/assembled.h"

namespace {

using namespace tessera::engine;
using namespace tessera::engine::test;

constexpr std::uint32_t kMemoryBytes = 4096;
constexpr std::uint32_t kArguments = 1024;  ///< address of the known words
constexpr std::uint32_t kOffered = 2048;    ///< address of buffer 5
constexpr std::uint32_t kGiven = 3072;

/// A worker with a0 = kArguments, where the words are 3, kGiven, kOffered, 0.
struct Walked {
  explicit Walked(const std::vector<Instruction>& program, bool loads_anywhere = true)
      : code(encoded(program), Role::worker),
        memory(kMemoryBytes),
        walk(code, context, memory, sets) {
    const std::uint32_t words[] = {3, kGiven, kOffered, 0};
    std::byte bytes[sizeof words];
    std::memcpy(bytes, words, sizeof words);
    memory.know(kArguments, bytes);
    memory.offer(kOffered, 64, 5);
    context.integers = &integers;
    walk.forget_registers();
    walk.know(10, kArguments);
    if (!loads_anywhere) walk.refuse_loads_anywhere();
    passed = walk.run(exit);
  }
  WalkCode code;
  Context context;
  tessera::packed::IntegerUnit integers;
  TaintSets sets;
  TaintedMemory memory;
  TaintWalk walk;
  Exit exit{};
  bool passed = false;
};

}  // namespace

TEST_SUITE("engine") {
  TEST_CASE("a walk goes through code that arguments alone decide") {
    const Walked walked({i_type(lw, 5, 10, 0), i_type(lw, 6, 10, 4),  // count, address
                         i_type(flw, 1, 6, 0), r_type(fadd_s, 1, 1, 1), s_type(fsw, 1, 6, 0),
                         i_type(addi, 6, 6, 4), i_type(addi, 5, 5, -1), branch_to(bne, 5, 0, -20),
                         end()});
    CHECK(walked.passed);
    CHECK(walked.exit.stop == Stop::end_worker);
    CHECK(walked.context.x[6] == kGiven + 12);
    CHECK(walked.walk.knows(6));
    CHECK(!walked.walk.knows(7));
  }

  TEST_CASE("a walk refuses a branch, a stored address and a count that are values") {
    const auto refusal = [](const std::vector<Instruction>& program) {
      const Walked walked(program);
      return walked.passed ? std::string() : walked.walk.refusal().what;
    };
    const Instruction values = i_type(lw, 6, 10, 4);
    const Instruction value = i_type(lw, 7, 6, 0);
    CHECK(refusal({values, value, branch_to(beq, 7, 0, 8), nop(), end()}) == "a branch on a value");
    CHECK(refusal({values, value, s_type(sw, 8, 7, 0), end()}) == "an address that is a value");
    const Instruction anywhere = i_type(lw, 8, 7, 0);
    CHECK(refusal({values, value, anywhere, end()}).empty());
    CHECK(!Walked({values, value, anywhere, end()}, false).passed);
    CHECK(refusal({values, value, anywhere, branch_to(beq, 8, 0, 8), nop(), end()}) ==
          "a branch on a value");
    CHECK(refusal({values, value, branch_to(rpt, 7, 0, 8), nop(), end()}) ==
          "a count that is a value");
    CHECK(refusal({values, value, r_type(add, 8, 7, 6), end()}).empty());
    CHECK(refusal({values, i_type(flw, 1, 6, 0), r_type(flt_s, 7, 1, 1), branch_to(bne, 7, 0, 8),
                   nop(), end()}) == "a branch on a value");
    CHECK(refusal({i_type(addi, 6, 10, 2), i_type(lw, 7, 6, 0), end()}) == "a load that faults");
  }

  TEST_CASE("a refusal names the buffers that would have to be looked up") {
    const Walked walked({i_type(lw, 6, 10, 8), i_type(lw, 7, 6, 0), i_type(addi, 7, 7, 1),
                         branch_to(beq, 7, 0, 8), nop(), end()});
    CHECK(!walked.passed);
    CHECK(walked.walk.refusal().lookable == std::vector<std::uint32_t>{5});
    CHECK(walked.walk.refusal().pc == 12);
  }

  TEST_CASE("a worker knows its writes until it ends; overwritten words are recorded") {
    Walked walked({i_type(lw, 6, 10, 4), s_type(sw, 6, 6, 8), i_type(lw, 7, 6, 8),
                   branch_to(beq, 7, 0, 8), s_type(sw, 6, 10, 4), end()});
    CHECK(walked.passed);
    CHECK(walked.memory.read(kGiven + 8, 4, TaintedMemory::Who::worker, walked.sets) == kKnown);
    walked.memory.forget_own();
    CHECK(walked.memory.read(kGiven + 8, 4, TaintedMemory::Who::worker, walked.sets) == kUnknown);
    CHECK(walked.memory.take_overwritten());
    CHECK(!walked.memory.take_overwritten());
  }

  TEST_CASE("after all workers have ended, each knows the writes of all") {
    TaintSets sets;
    TaintedMemory memory(kMemoryBytes);
    const auto worker = TaintedMemory::Who::worker;
    const auto read = [&](std::uint32_t address) { return memory.read(address, 4, worker, sets); };
    const auto write = [&](std::uint32_t address, std::uint32_t number) {
      CHECK(memory.write(address, 4, worker, &number));
      std::memcpy(memory.bytes() + address, &number, 4);
    };
    write(64, 1);
    write(128, 2);  // on its stack
    CHECK(memory.leave_own(128, 160));
    CHECK(read(64) == kUnknown);
    memory.join(true);
    CHECK(read(64) == kKnown);
    CHECK(read(128) == kUnknown);
    CHECK(memory.read(64, 4, TaintedMemory::Who::supervisor, sets) == kUnknown);
    // Writing the same number changes nothing; a different one does, since the word was read.
    write(64, 1);
    CHECK(memory.leave_own(128, 160));
    memory.join(true);
    CHECK_FALSE(memory.take_overwritten());
    CHECK(read(64) == kKnown);
    write(64, 3);
    CHECK(memory.take_overwritten());
    CHECK(memory.leave_own(128, 160));
    // Two workers wrote the word: the last writer is unknown.
    write(64, 4);
    CHECK(memory.leave_own(128, 160));
    memory.join(true);
    CHECK(read(64) == kUnknown);
    write(64, 5);
    memory.leave_own(128, 160);
    memory.join(false);
    CHECK(read(64) == kUnknown);
    // Writing an unknown number makes the word unknown for all.
    write(64, 5);
    memory.leave_own(128, 160);
    memory.join(true);
    CHECK(memory.write(64, 4, worker, nullptr));
    CHECK(read(64) == kUnknown);
    // A call that writes only its stack changes nothing for others.
    write(128, 6);
    CHECK_FALSE(memory.leave_own(128, 160));
  }

  TEST_CASE("transferred data are unknown, and kept words are never written") {
    TaintSets sets;
    TaintedMemory memory(kMemoryBytes);
    std::byte bytes[8] = {};
    const std::uint32_t number = 0;
    const auto who = TaintedMemory::Who::supervisor;
    memory.know(64, bytes);
    CHECK(memory.read(64, 8, who, sets) == kKnown);
    memory.receive(64, 4);
    CHECK(memory.take_overwritten());
    CHECK(memory.read(64, 4, who, sets) == kUnknown);
    CHECK(memory.write(64, 4, who, &number));
    CHECK(memory.read(64, 4, who, sets) == kUnknown);  // the transfer may write it again
    memory.land(64, 4);
    CHECK(memory.write(64, 4, who, &number));
    CHECK(memory.read(64, 4, who, sets) == kKnown);
    memory.keep(64, 4);
    CHECK(!memory.write(64, 4, who, &number));
    CHECK(sets.join(sets.of(1), sets.of(2)) == sets.join(sets.of(2), sets.of(1)));
    CHECK(sets.join(sets.of(1), kUnknown) == kUnknown);
  }
}
