#include "sim/isa/activity.h"

#include <numeric>

#include <doctest/doctest.h>

#include "sim/isa/table.h"

namespace tessera::isa {
namespace {

std::uint32_t of(const Instruction& instruction, Activity which, std::uint32_t slots = 1) {
  return activity(instruction, slots, 64)[index(which)];
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("every instruction belongs to one class") {
    for (std::size_t i = 0; i < kMnemonics; ++i) {
      const Instruction instruction{.mnemonic = static_cast<Mnemonic>(i)};
      const auto counts = activity(instruction, 1, 64);
      CAPTURE(kTable[i].mnemonic);
      CHECK(std::accumulate(counts.begin(), counts.begin() + kInstructionClasses, 0U) == 1);
      CHECK(counts[index(Activity::bytes_loaded)] == kTable[i].bytes_loaded);
      CHECK(counts[index(Activity::bytes_stored)] == kTable[i].bytes_stored);
    }
  }

  TEST_CASE("adds and multiplies are the flops of the table") {
    for (std::size_t i = 0; i < kMnemonics; ++i) {
      const InstructionInfo& known = kTable[i];
      const Instruction instruction{.mnemonic = static_cast<Mnemonic>(i)};
      const auto counts = activity(instruction, 7, 64);
      CAPTURE(known.mnemonic);
      std::uint32_t flops = 0;
      for (const Activity each : {Activity::f32_adds, Activity::f32_multiplies, Activity::f16_adds,
                                  Activity::f16_multiplies})
        flops += counts[index(each)];
      std::uint32_t matrix = 0;
      for (const Activity each :
           {Activity::matrix_f16, Activity::matrix_f16_f32, Activity::matrix_f32,
            Activity::matrix_i8, Activity::matrix_i16, Activity::matrix_bf16})
        matrix += counts[index(each)];
      const bool iterative = known.cost == CostClass::float_divide ||
                             known.cost == CostClass::integer_divide ||
                             known.cost == CostClass::activation;
      CHECK(matrix == (known.cost == CostClass::matrix ? 64 : 0));
      const std::uint32_t divides = counts[index(Activity::integer_divides)] +
                                    counts[index(Activity::float_divides)] +
                                    counts[index(Activity::activations)];
      CHECK(divides == (iterative ? 1 : 0));  // regardless of its slots
      if (matrix == 0 && !iterative) CHECK(flops == known.flops);
    }
  }

  TEST_CASE("types and lanes are told apart") {
    CHECK(of({.mnemonic = Mnemonic::fma_4h}, Activity::f16_adds) == 4);
    CHECK(of({.mnemonic = Mnemonic::fma_4h}, Activity::f16_multiplies) == 4);
    CHECK(of({.mnemonic = Mnemonic::dot2_s_h}, Activity::f32_adds) == 4);
    CHECK(of({.mnemonic = Mnemonic::dot2_s_h}, Activity::f16_multiplies) == 4);
    CHECK(of({.mnemonic = Mnemonic::amp_hs}, Activity::matrix_f16_f32) == 64);
    CHECK(of({.mnemonic = Mnemonic::mul}, Activity::integer_multiply) == 1);
    CHECK(of({.mnemonic = Mnemonic::bdnz}, Activity::control) == 1);
  }

  TEST_CASE("the matrix unit without multiply-adds moves values only") {
    const Instruction fills{.mnemonic = Mnemonic::amp_h, .imm = 16};
    CHECK(of(fills, Activity::matrix_f16) == 0);
    CHECK(of(fills, Activity::floating) == 1);
  }
}

}  // namespace tessera::isa
