#include "kernels/gemm/core_product.h"

#include <algorithm>

#include "sim/base/errors.h"
#include "sim/elf/codelet.h"

namespace tessera::gemm {
namespace {

// What an instruction of codelets_tiles.S takes: inputs, outputs, bytes of a sum.
constexpr VectorType kVectorTypes[] = {
    {Type::i8, "i8", 1, 8, 8, 4}, {Type::i16, "i16", 2, 4, 4, 8}, {Type::bf16, "bf16", 2, 8, 4, 8}};

}  // namespace

const VectorType* vector_type(Type type) {
  const auto* const found = std::ranges::find(kVectorTypes, type, &VectorType::type);
  return found == std::end(kVectorTypes) ? nullptr : found;
}

std::uint32_t add_product_code(program::Program& program, const VectorType& type, bool kept) {
  return program.add_codelet(
      elf::embedded_codelet("gemm", fmt::format("{}_{}", kept ? "kept" : "product", type.name)));
}

std::vector<program::Argument> CoreProduct::arguments() const {
  const std::uint32_t steps = tile.depth / type->inputs;
  const Patch patch = lists ? kept_patch(*type) : kDensePatch;
  check(tile.rows % patch.rows == 0 && tile.columns % column_unit(*type, patch) == 0 &&
            tile.depth % depth_unit(*type) == 0 && steps >= kFewestSteps,
        "gemm: a tile of {} x {} x {}", tile.rows, tile.columns, tile.depth);
  const std::uint32_t parts = tile.rows / patch.rows;
  const std::uint32_t part_bytes = tile.a_bytes(*type) / parts;
  const auto from = static_cast<std::uint32_t>(begins);
  const auto to = static_cast<std::uint32_t>(ends);
  if (lists)
    return {a,     b,          c,      sums,  zeros, tile.columns / kKeptColumns,
            parts, part_bytes, *lists, shift, from,  to};
  return {a,
          b,
          c,
          sums,
          zeros,
          steps / 2 - 1,
          tile.columns / column_unit(*type, patch),
          parts,
          part_bytes,
          tile.a_bytes(*type),
          tile.b_bytes(*type),
          shift,
          from,
          to};
}

}  // namespace tessera::gemm
