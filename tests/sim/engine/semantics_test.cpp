#include <set>

#include <doctest/doctest.h>

#include "tests/sim/engine/xtile_trials.h"

namespace tessera::engine::test {
namespace {

TEST_SUITE("unit") {
  TEST_CASE("every Xtile instruction has a reference, or leaves the engine, or is a loop") {
    const std::set<Mnemonic> apart = {
        bdnz, rpt, isa::Mnemonic::run, isa::Mnemonic::run_block, exch, exch_wait, ldcw, ldma, sdma};
    for (std::size_t i = isa::index(flh_p); i < isa::kMnemonics; ++i) {
      const auto m = static_cast<Mnemonic>(i);
      CAPTURE(name_of(m));
      CHECK((reference_of(m) != nullptr) != apart.contains(m));
    }
  }

  TEST_CASE("alone each instruction does what the reference does, whatever its operands") {
    for (const Reference& each : references()) {
      if (!is_xtile(each.mnemonic)) continue;
      CAPTURE(name_of(each.mnemonic));
      int said = 0;
      for (std::uint32_t seed = 1; seed <= 100; ++seed) {
        Maker maker(seed);
        said += check_all({Trial::once, {maker.make(each.mnemonic)}}, seed);
      }
      CHECK(said > 100);
    }
  }

  TEST_CASE("beside every other each does what the reference does") {
    std::uint32_t seed = 0;
    int said = 0;
    for (const Reference& one : references()) {
      for (const Reference& other : references()) {
        if (!is_xtile(one.mnemonic) && !is_xtile(other.mnemonic)) continue;
        Maker maker(++seed);
        const Trial trial{Trial::once, {maker.make(one.mnemonic), maker.make(other.mnemonic)}};
        said += check_all(trial, seed);
      }
    }
    CHECK(said > 20'000);
  }

  TEST_CASE("in blocks and in loops of either kind each does what the reference does") {
    const auto& all = references();
    int said = 0;
    for (std::uint32_t seed = 1; seed <= 3000; ++seed) {
      Maker maker(seed);
      Trial trial{static_cast<Trial::Shape>(seed % 3), {}};
      for (std::size_t i = 0; i < 2 + seed % 7; ++i) {
        const auto which = maker.below(static_cast<std::uint32_t>(all.size()));
        trial.body.push_back(maker.make(all[which].mnemonic));
      }
      said += check_all(trial, seed);
    }
    CHECK(said > 6000);
  }

  TEST_CASE("instructions that the machine executes leave the engine with their operands") {
    struct Leaving {
      Instruction instruction;
      Stop stop;
      std::uint32_t operand[4];
    };
    Instruction weights{.mnemonic = ldcw, .rs1 = 6, .imm = 1 << 12 | 4 << 6 | 3};
    Instruction blocks = r_type(isa::Mnemonic::run_block, 5, 6, 7);
    blocks.imm = 27;
    for (const Leaving& each :
         {Leaving{r_type(isa::Mnemonic::run, 5, 6, 7), Stop::run, {106, 107, 105, 0}},
          Leaving{blocks, Stop::run, {106, 107, 105, 27}},
          Leaving{r_type(exch, 0, 6, 0), Stop::exchange_start, {106}},
          Leaving{r_type(exch_wait, 0, 0, 0), Stop::exchange_wait, {}},
          Leaving{weights, Stop::load_weights, {106, 6, 10}},
          Leaving{i_type(ldcw, 0, 6, 63 << 6), Stop::load_weights, {106, 0, 64}},
          Leaving{i_type(xctl, 0, 0, 1), Stop::join, {}},
          Leaving{i_type(xctl, 0, 0, 16 + 3), Stop::sync, {3}}}) {
      Assembled program({nop(), each.instruction, end()}, Role::supervisor);
      for (std::uint32_t i = 5; i < 8; ++i) program.context.x[i] = 100 + i;
      const Exit exit = program.run();
      CAPTURE(name_of(each.instruction.mnemonic));
      CHECK(exit.stop == each.stop);
      CHECK(exit.pc == 4);
      CHECK(program.context.pc == 8);
      for (int i = 0; i < 4; ++i) CHECK(exit.operand[i] == each.operand[i]);
      const bool advances = each.stop == Stop::load_weights;
      CHECK(program.context.x[6] == 106 + (advances ? 8 * each.operand[2] : 0U));
    }
  }

  TEST_CASE("a transfer that a worker starts leaves the engine with its operands") {
    for (const Mnemonic move : {ldma, sdma}) {
      CAPTURE(name_of(move));
      Assembled program({nop(), r_type(move, 5, 6, 7), end()});
      for (std::uint32_t i = 5; i < 8; ++i) program.context.x[i] = 100 + i;
      const Exit exit = program.run();
      CHECK(exit.stop == Stop::dma);
      CHECK(exit.pc == 4);
      CHECK(program.context.pc == 8);
      CHECK(exit.operand[0] == 106);
      CHECK(exit.operand[1] == 107);
      CHECK(exit.operand[2] == 105);
      CHECK(exit.operand[3] == (move == sdma ? 1 : 0));
      CHECK(program.context.instructions == 2);
      CHECK(program.context.slots == 2);
      CHECK(program.run().stop == Stop::end_worker);
    }
  }
}

}  // namespace
}  // namespace tessera::engine::test
