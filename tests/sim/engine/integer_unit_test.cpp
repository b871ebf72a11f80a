#include <doctest/doctest.h>

#include "tests/sim/engine/assembled.h"

namespace tessera::engine::test {
namespace {

/// A tile with one context, an int8 unit and latencies of several cycles.
TileConfig integer_core() {
  TileConfig tile;
  tile.matrix_unit.i8.outputs = 8;
  tile.matrix_unit.i16.outputs = 4;
  tile.matrix_unit.bf16.outputs = 4;
  tile.issue = IssueKind::single;
  tile.contexts = 1;
  tile.load_bytes_per_slot = 64;
  tile.store_bytes_per_slot = 32;
  tile.latency = {.load = 7, .integer = 2, .float_move = 3, .matrix = 6};
  return tile;
}

constexpr int kFirstPointer = 10;   ///< holds kBytesAt
constexpr int kSecondPointer = 11;  ///< holds kBytesAt, too
constexpr int kAdvance = 12;        ///< holds 8
constexpr std::uint32_t kBytesAt = 2048;

const Instruction kAmp = r_type(amp_b, 1, 4, 5);
const Instruction kTwoLoads = r_type(ld8, 0, kFirstPointer, kSecondPointer, kAdvance);
const Instruction kWeights = r_type(ldw_b, 5, kFirstPointer, 0);
const Instruction kRounded = r_type(st_b, 1, kFirstPointer, 0, kAdvance);

std::uint64_t slots_of_unit(std::vector<Instruction> body,
                            const TileConfig& tile = integer_core()) {
  return slots_of(std::move(body), tile);
}

TEST_SUITE("timing") {
  TEST_CASE("amp.b into one accumulator issue one after the other, all others wait") {
    CHECK(slots_of_unit({kAmp, kAmp, kAmp, kAmp}) == 4);
    CHECK(slots_of_unit({kAmp, kAmp, kRounded}) == 1 + 6 + 1);
    CHECK(slots_of_unit({kAmp, r_type(amp_b, 2, 4, 5), kRounded}) == 6 + 1);
    CHECK(slots_of_unit({kAmp, r_type(st_acc, 1, kFirstPointer, 0)}) == 6 + 4);
    CHECK(slots_of_unit({kAmp, r_type(set_b, 1, 4, 0)}) == 6 + 1);
    CHECK(slots_of_unit({r_type(set_b, 1, 4, 0), kAmp}) == 3 + 1);
    CHECK(slots_of_unit({r_type(ld_acc, 1, kFirstPointer, 0), kAmp}) == 2 - 1 + 7 + 1);
    TileConfig slow = integer_core();
    slow.matrix_unit.i8.interval = 3;
    CHECK(slots_of_unit({kAmp, kAmp, kAmp}, slow) == 7);
  }

  TEST_CASE("loads of both ports take one slot, and what they bring its latency") {
    CHECK(slots_of_unit({kTwoLoads, kWeights}) == 2 + 1);  // waits for the pointer
    CHECK(slots_of_unit({kWeights, r_type(amp_b, 1, 8, 5)}) == 7 + 1);
    CHECK(slots_of_unit({kTwoLoads, r_type(amp_b, 1, 0, 5)}) == 7 + 1);
    CHECK(slots_of_unit({kTwoLoads, r_type(amp_b, 1, 1, 5)}) == 7 + 1);
    CHECK(slots_of_unit({kTwoLoads, r_type(amp_b, 1, 2, 5)}) == 1);
    CHECK(slots_of_unit({r_type(ld4h, 7, kFirstPointer, kSecondPointer, kAdvance),
                         r_type(amp_b, 1, 6, 5)}) == 1);
    CHECK(slots_of_unit({i_type(mode_b, 0, kAdvance, 0), kRounded}) == 2 + 1);
  }

  TEST_CASE("a load pairs with the amp.b whose operands it overwrites") {
    const Instruction over = r_type(ld8, 2, kFirstPointer, kSecondPointer, kAdvance);
    CHECK(slots_of_unit({kAmp, over}) == 1);
    CHECK(slots_of_unit({over, kAmp}) == 7 + 1);
    CHECK(slots_of_unit({kAmp, r_type(ldw_b, 5, kFirstPointer, 0)}) == 1);
    CHECK(slots_of_unit({kRounded, kAmp}) == 1);
    CHECK(slots_of_unit({r_type(set_b, 0, 4, 0), kRounded}) == 1);
  }

  TEST_CASE("a loop of a load and an amp.b a slot runs at 256 multiply-adds a cycle") {
    std::vector<Instruction> body = {nop(), branch_to(rpt, 20, 0, 4 + 64)};
    for (int i = 0; i < 8; ++i) {
      body.push_back(r_type(amp_b, i, i, 5));
      body.push_back(i % 2 == 0 ? nop() : r_type(ld8, i / 2, 2 + i, 3 + i, 30));
    }
    body.push_back(end());
    TileConfig tile = integer_core();
    tile.latency.integer = 1;
    Assembled program(body, Role::worker, tile);
    for (int i = 2; i < 12; ++i) program.context.x[i] = kBytesAt;
    program.context.x[20] = 100;
    CHECK(program.run().stop == Stop::end_worker);
    CHECK(program.context.slots == 2 + 800 + 1);
    CHECK(program.context.flops == std::uint64_t{2} * 256 * 800);
  }
}

TEST_SUITE("unit") {
  TEST_CASE("without an int8 unit its instructions are unknown words, and supervisors have none") {
    TileConfig none = integer_core();
    none.matrix_unit.i8.outputs = none.matrix_unit.i16.outputs = none.matrix_unit.bf16.outputs = 0;
    int found = 0;
    for (std::size_t i = 0; i < isa::kMnemonics; ++i) {
      const auto mnemonic = static_cast<Mnemonic>(i);
      if (!isa::uses_integer_unit(mnemonic)) continue;
      ++found;
      const Instruction one = r_type(mnemonic, 0, 4, 0);
      const Exit without = Assembled({one, end()}, Role::worker, none).run();
      CHECK(without.stop == Stop::fault);
      CHECK(without.fault == Fault::illegal_instruction);
      const Exit supervisor = Assembled({one, end()}, Role::supervisor, integer_core()).run();
      CHECK(supervisor.fault == Fault::not_allowed_here);
    }
    CHECK(found == 27);
  }

  TEST_CASE("a store of which a part faults stores nothing and moves nothing") {
    for (const Instruction& store :
         {r_type(st_b, 1, kFirstPointer, 0, 0), r_type(st_acc, 1, kFirstPointer, 0, 0),
          r_type(st4, 1, kFirstPointer, 0, 0),
          r_type(st_bh, 1, kSecondPointer, kFirstPointer, kAdvance),
          r_type(st4h, 1, kSecondPointer, kFirstPointer, kAdvance)}) {
      Assembled program({store, end()}, Role::worker, integer_core());
      program.context.x[kFirstPointer] =
          Assembled::kSize - 8 - (store.rs2 == kFirstPointer ? 8 : 0);
      program.context.x[kSecondPointer] = kBytesAt;
      program.context.x[kAdvance] = 8;
      std::fill(program.memory().begin() + kBytesAt, program.memory().end(), std::byte{1});
      const std::vector<std::byte> before = program.memory();
      const Exit exit = program.run();
      CHECK(exit.stop == Stop::fault);
      CHECK(exit.fault == Fault::out_of_range);
      CHECK(exit.address == Assembled::kSize);
      CHECK(program.memory() == before);
      CHECK(program.context.x[kSecondPointer] == kBytesAt);
    }
  }

  TEST_CASE("accesses that are not on multiples of 8 are faults") {
    for (const Instruction& access :
         {kTwoLoads, kWeights, kRounded, r_type(ld_acc, 1, kFirstPointer, 0),
          r_type(ldh_b, 1, kFirstPointer, 0)}) {
      Assembled program({access, end()}, Role::worker, integer_core());
      program.context.x[kFirstPointer] = program.context.x[kSecondPointer] = kBytesAt + 4;
      CHECK(program.run().fault == Fault::misaligned);
      CHECK(program.context.x[kFirstPointer] == kBytesAt + 4);
    }
  }
}

}  // namespace
}  // namespace tessera::engine::test
