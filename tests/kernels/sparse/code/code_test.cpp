#include <string>

#include <doctest/doctest.h>

#include "kernels/sparse/code/relayout.h"
#include "kernels/spmm_static/block_code.h"
#include "kernels/spmm_static/element_work.h"
#include "tests/kernels/lone_codelet.h"

using namespace tessera;
using namespace tessera::spmm_static;
using namespace tessera::sparse;
using tessera::sparse::Shape;

namespace {

constexpr std::uint32_t kArguments = test::LoneCodelet::kData;

/// Slots of one worker on `rows` rows of `nonzeros` nonzeros each in `passes` column passes.
std::uint64_t element_slots(const ElementCode& code, std::uint32_t rows, std::uint32_t nonzeros,
                            std::uint32_t passes) {
  test::LoneCodelet lone("sparse/code", std::string(code.codelet));
  constexpr std::uint32_t kList = kArguments + 0x1000;
  const std::uint32_t row_bytes = passes * code.words * 8;
  const std::uint32_t words[] = {kArguments + 0x4000,
                                 kArguments + 0x8000,
                                 row_bytes,
                                 2 * row_bytes,
                                 kList,
                                 kArguments + 0x2000,
                                 rows,
                                 passes,
                                 0,
                                 0};
  for (std::uint32_t i = 0; i < std::size(words); ++i) lone.put(kArguments + 4 * i, words[i]);
  std::uint32_t at = kList;
  for (std::uint32_t row = 0; row < rows; ++row) {
    lone.put(at, static_cast<std::uint16_t>(nonzeros));
    at += 2 + 2 * nonzeros;  // all name row 0 of X
  }
  return lone.slots(kArguments);
}

/// Slots of one worker that adds up `partials` partials in segments of this size.
std::uint64_t reducing_slots(const std::string& codelet, std::uint32_t segments, unsigned partials,
                             unsigned chunks, unsigned units) {
  test::LoneCodelet lone("sparse/code", codelet);
  constexpr std::uint32_t kList = kArguments + 0x1000;
  const std::uint32_t words[] = {kArguments + 0x4000, kArguments + 0x2000, kList, segments, 0, 0};
  for (std::uint32_t i = 0; i < std::size(words); ++i) lone.put(kArguments + 4 * i, words[i]);
  for (std::uint32_t s = 0; s < segments; ++s) {
    const std::uint32_t at = kList + 16 * s;
    lone.put(at, std::uint32_t{0});
    lone.put(at + 4, std::uint32_t{0x400});
    const unsigned counts[] = {partials, chunks, units, 0x40};
    for (std::uint32_t i = 0; i < 4; ++i) {
      lone.put(at + 8 + 2 * i, static_cast<std::uint16_t>(counts[i]));
    }
  }
  return lone.slots(kArguments);
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("the element-wise codelets take the slots that the planner counts with") {
    const Shape shapes[] = {
        {1, Type::f16, Type::f16}, {1, Type::f16, Type::f32}, {1, Type::f32, Type::f32}};
    for (const Shape& shape : shapes) {
      for (const std::uint32_t words : {1U, 2U}) {
        const ElementCode code = element_code(shape, words);
        CAPTURE(code.codelet);
        for (const std::uint32_t rows : {1U, 2U, 7U}) {
          for (const std::uint32_t nonzeros : {0U, 1U, 2U, 3U, 4U, 5U, 20U}) {
            for (const std::uint32_t passes : {1U, 2U, 5U}) {
              CAPTURE(rows);
              CAPTURE(nonzeros);
              CAPTURE(passes);
              CHECK(element_slots(code, rows, nonzeros, passes) ==
                    code.slots(rows * code.row_slots(nonzeros), passes));
            }
          }
        }
        for (const std::uint32_t nonzeros : {0U, 1U, 2U, 3U}) {  // shorter ways through a row
          CAPTURE(nonzeros);
          CHECK(element_slots(code, 3, nonzeros, 2) <= code.slots(3 * code.row_slots(nonzeros), 2));
        }
      }
    }
  }

  TEST_CASE("the adding codelets take the slots that the planner counts with") {
    const std::pair<const char*, Shape> codelets[] = {
        {"reduce_f16", {8, Type::f16, Type::f16}},
        {"reduce_f16_f32", {8, Type::f16, Type::f32}},
        {"reduce_f16_f32_halves", {16, Type::f16, Type::f32}},
        {"reduce_f32", {8, Type::f32, Type::f32}}};
    for (const auto& each : codelets) {
      const std::string codelet = each.first;
      const Shape& shape = each.second;
      CAPTURE(codelet);
      for (const unsigned partials : {0U, 1U, 2U, 3U, 9U}) {
        for (const unsigned chunks : {0U, 1U, 5U}) {
          for (const unsigned units : {0U, 1U, 3U}) {
            CAPTURE(partials);
            CAPTURE(chunks);
            CAPTURE(units);
            const std::uint64_t segment = kSegmentSlots + chunks * chunk_slots(shape, partials) +
                                          units * word_slots(shape, partials);
            CHECK(reducing_slots(codelet, 2, partials, chunks, units) ==
                  kReduceSlots + 2 * segment);
          }
        }
      }
    }
  }

  TEST_CASE("the transposing codelets take the slots that the planner counts with") {
    for (const std::uint32_t bytes : {2U, 4U}) {
      for (const unsigned number : {1U, 2U, 7U}) {
        const auto squares = static_cast<std::uint16_t>(number);
        for (const std::uint32_t count : {1U, 3U}) {
          CAPTURE(bytes);
          CAPTURE(squares);
          CAPTURE(count);
          test::LoneCodelet lone("sparse/code", bytes == 2 ? "transpose_f16" : "transpose_f32");
          constexpr std::uint32_t kList = kArguments + 0x1000;
          const std::uint32_t words[] = {kArguments + 0x2000, kArguments + 0x4000, kList, count};
          for (std::uint32_t i = 0; i < std::size(words); ++i) {
            lone.put(kArguments + 4 * i, words[i]);
          }
          const std::vector<SquareRun> runs(count, SquareRun{0, 0, squares, 64, 8, 32, 128, 0});
          for (std::uint32_t i = 0; i < count; ++i) {
            lone.put(kList + i * static_cast<std::uint32_t>(sizeof(SquareRun)), runs[i]);
          }
          CHECK(lone.slots(kArguments) == transposing_slots(runs, bytes));
        }
      }
    }
  }

  TEST_CASE("panels cover what a tile holds, and their squares are done once by its workers") {
    const Chunked part{{160, 1000}, 8, 20, {}};
    const std::vector<Panel> panels = panels_of(part);
    std::uint64_t at = 160;
    for (const Panel& panel : panels) {
      CHECK(panel.offset == at - 160);
      CHECK(panel.row == at / 160 * 8);
      CHECK(panel.begin == at / 8 % 20);
      CHECK(panel.end <= 20);
      at += panel.width() * 8;
    }
    CHECK(at == 1000);
    std::uint64_t squares = 0;
    for (const auto& runs : transpositions(part, 2, Direction::to_blocks, 6)) {
      for (const SquareRun& run : runs) squares += run.squares;
    }
    CHECK(squares == 840 / 16);
  }
}
