#include <cstring>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "kernels/butterfly/butterfly.h"
#include "models/costs/measured_costs.h"
#include "sim/elf/codelet.h"
#include "sim/isa/decode.h"
#include "tests/kernels/small_machine.h"

using namespace tessera;
using namespace tessera::butterfly;

namespace {

/// Instructions of the inner loop of a codelet, which begins with a pair.
std::uint64_t loop_instructions(const std::string& name) {
  const program::Codelet codelet = tessera::elf::embedded_codelet("butterfly", name);
  for (std::size_t at = 0; at < codelet.code.size(); at += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, &codelet.code[at], sizeof word);
    const auto instruction = isa::decode(word);
    REQUIRE(instruction.has_value());
    if (instruction->mnemonic != isa::Mnemonic::rpt) continue;
    CHECK((at + 4) % 8 == 0);
    return static_cast<std::uint64_t>(instruction->imm - 4) / 4;
  }
  return 0;
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("inner loops hold their multiply-adds, loads and stores and nothing else") {
    for (const char* type : {"f16", "f32"})
      for (const char* parameters : {"free", "rotation"}) {
        CHECK(loop_instructions(fmt::format("butterfly_{}_{}_1", type, parameters)) == 8);
        CHECK(loop_instructions(fmt::format("butterfly_{}_{}_2", type, parameters)) == 24);
      }
    CHECK(loop_instructions("butterfly_complex_free_1") == 28);
  }

  TEST_CASE("a factor takes the slots of its inner loop, and a tenth more at most") {
    // Four slots a word of each pair of rows (both parts of complex ones: sixteen a unit), one or
    // two factors at a time.
    for (const Number dtype : {Number::f16, Number::f32, Number::complex_f32})
      for (const Parameters parameters : {Parameters::free, Parameters::rotation})
        for (const std::uint32_t fused : {1U, 2U}) {
          Options options;
          options.problem.features = 32;
          options.problem.dtype = dtype;
          options.problem.parameters = parameters;
          const std::uint64_t units = 180 / (options.problem.unit_bytes() / kWordBytes);
          options.problem.n = static_cast<std::uint32_t>(units) * options.problem.unit_columns();
          if (options.problem.complex_code() && fused == 2) continue;
          options.plan = Plan{1, 1, fused, 1};
          MeasuredCosts costs(test::small_machine(1));
          const Butterfly butterfly(options, costs);
          const std::uint64_t words =
              options.problem.complex_code() ? 4 * units : units * options.problem.unit_bytes() / 8;
          // Sixteen pairs among six workers: three each; eight groups of two stages: two.
          const std::uint64_t groups = fused == 1 ? 5 * 3 * 4 : (2 * 2 * 4 + 3) * 4;
          const auto slots = static_cast<double>(groups * words * 6);
          CAPTURE(config::name_of(kNumbers, dtype));
          CAPTURE(config::name_of(kParameters, parameters));
          CAPTURE(fused);
          const auto found = static_cast<double>(butterfly.prediction().compute_cycles);
          CHECK(found >= slots);
          CHECK(found <= 1.1 * slots);
        }
  }
}
