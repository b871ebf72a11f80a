#include "kernels/gemm/vertices.h"

#include <algorithm>

#include <fmt/format.h>

namespace tessera::gemm {

using kernels::Arguments;
using plan::Function;
using Operands = std::span<const Place>;

program::Vertex stepped_product(const kernels::Codelet& code, const BlockShape& block, bool adds,
                                const Sizes& sizes, const ProductSteps& steps, Operands operands) {
  Arguments arguments = code.dealt(
      {operands[0], operands[1], word(steps.x), word(sizes[2]), word(sizes[1]), adds ? 1U : 0U, 0U,
       0U},
      sizes[0], [&](Interval mine, Arguments& into) {
        into.insert(into.end(), {word(mine.begin * block.x_bytes()),
                                 kernels::behind(operands[2], mine.begin * block.y_bytes()),
                                 word(mine.size()) - 3, word(steps.y)});
      });
  return block.on_unit() ? code.supervised(std::move(arguments)) : code.all(std::move(arguments));
}

const Function& Functions::product(const BlockShape& block, bool adds) {
  return description_.function(
      {fmt::format("gemm product {} {}", block.name(), adds),
       {FittedCost::Axis::shared(contexts_), {1, 1}, {1, 2}},
       [code = product_code(block), block, adds](const Sizes& sizes, Operands operands) {
         return stepped_product(code, block, adds, sizes,
                                {sizes[0] * block.x_bytes(), sizes[0] * block.y_bytes()}, operands);
       },
       [block](const Sizes& sizes) {
         return std::vector{sizes[1] * sizes[2] * block.w_bytes(),
                            sizes[0] * sizes[2] * block.x_bytes(),
                            sizes[0] * sizes[1] * block.y_bytes()};
       }});
}

const Function& Functions::adding(Type type) {
  const char* const name = type == Type::f32 ? "f32" : "f16";
  return description_.function(
      {fmt::format("gemm adding {}", name),
       {FittedCost::Axis::shared(contexts_), {1, 1}},
       [code = codelet(fmt::format("gemm_add_{}", name))](const Sizes& sizes, Operands operands) {
         const std::uint64_t bytes = sizes[0] * kPair;
         return code.all_over(
             {operands[0], operands[1], word(bytes), word(sizes[1]), operands[2], 0U, 0U, 0U},
             bytes, kPair);
       },
       [](const Sizes& sizes) {
         const std::uint64_t bytes = sizes[0] * kPair;
         return std::vector{bytes, bytes * sizes[1], bytes};
       }});
}

const Function& Functions::packing() {
  return description_.function(
      {"gemm packing",
       {FittedCost::Axis::shared(contexts_)},
       [code = codelet("gemm_pack")](const Sizes& sizes, Operands operands) {
         return code.all_over({operands[0], operands[1], 0U, 0U, 0U, 0U, 0U, 0U}, sizes[0] * kPair,
                              kPair);
       },
       [](const Sizes& sizes) {
         return std::vector{sizes[0] * kPair, sizes[0] * kPair};
       }});
}

const Function& Functions::regrouping(std::uint32_t chunk_bytes, bool to_blocks) {
  const auto vertex = [=, code = codelet(fmt::format("gemm_to_{}_{}", to_blocks ? "blocks" : "rows",
                                                     chunk_bytes / 8))](const Sizes& sizes,
                                                                        Operands operands) {
    const std::uint32_t in_row = chunk_bytes;
    const std::uint32_t in_blocks = word(sizes[0] * chunk_bytes);
    const std::uint32_t row = word(sizes[1] * chunk_bytes);
    return code.all(code.dealt(
        {operands[0], operands[1], word(sizes[1]), to_blocks ? in_row : in_blocks,
         to_blocks ? in_blocks : in_row, row - chunk_bytes, 0U, 0U},
        sizes[0], [&](Interval mine, Arguments& into) {
          const std::uint32_t first = word(mine.begin);
          into.insert(into.end(), {first * (to_blocks ? row : in_row),
                                   first * (to_blocks ? in_row : row), word(mine.size()) - 1, 0U});
        }));
  };
  return description_.function({fmt::format("gemm regrouping {} {}", chunk_bytes, to_blocks),
                                {FittedCost::Axis::shared(contexts_), {1, 1}},
                                vertex,
                                [chunk_bytes](const Sizes& sizes) {
                                  const std::uint64_t bytes = sizes[0] * sizes[1] * chunk_bytes;
                                  return std::vector{bytes, bytes};
                                }});
}

std::uint64_t least_run(plan::Pricing& pricing, const plan::Description& description,
                        const plan::Function& product, std::uint64_t rows) {
  const auto cycles = [&](std::uint64_t columns, std::uint64_t depth) {
    return pricing.call(description, product, {rows, columns, depth});
  };
  const std::uint64_t one = cycles(1, 1);
  return std::max(one, std::min(cycles(2, 1), cycles(1, 2))) - one;
}

}  // namespace tessera::gemm
