#include <algorithm>

#include "kernels/sparse/published/policy.h"
#include "sim/base/splitmix.h"
#include "sim/base/types.h"

namespace tessera::sparse::published {

namespace {

/// Rows of single elements: up to `few` and up to `some` columns have special code.
struct ElementTerms {
  std::uint64_t few, few_start, few_row;
  std::uint64_t some, some_start, some_row;
  std::uint64_t start, row, pass, rest;
};
constexpr ElementTerms kHalf{4, 31, 7, 8, 31, 8, 33, 11, 14, 9};
constexpr ElementTerms kFloat{2, 29, 5, 4, 30, 6, 31, 12, 10, 10};

std::uint64_t element_worker(const ElementTerms& terms, std::uint64_t rows, std::uint64_t blocks,
                             std::uint64_t width) {
  const std::uint64_t narrow = 2 * (blocks - 1);  // a pass of `few` columns past the first nonzero
  const std::uint64_t wide = 3 * (blocks - 1);
  if (width == terms.few) return terms.few_start + rows * (terms.few_row + narrow);
  if (width == terms.some) return terms.some_start + rows * (terms.some_row + wide);
  const std::uint64_t rest = width % terms.some != 0 ? terms.rest + narrow : 0;
  return terms.start + rows * (terms.row + width / terms.some * (terms.pass + wide) + rest);
}

/// Terms of a tile's cycles with blocks: start, per block row, per block times `columns` columns.
struct BlockTerms {
  std::uint64_t start, row, block;
};

BlockTerms block_terms(const Shape& shape, std::uint64_t columns) {
  const std::uint64_t more = columns - 1;
  if (shape.type == Type::f16) {
    if (shape.block == 4) return {17, 1, (columns <= 2 ? 7 : 13) + columns};
    if (shape.block == 8) return {13, 1, 14 + 2 * more};
    return {13, 1, 19 + 4 * more};
  }
  if (shape.block == 4) return {13, 1, 12 + 4 * more};
  if (shape.block == 8) return {13, 4, 19 + 8 * more};
  return {16, 4, columns == 1 ? 58 : 2 * (37 + 8 * more)};
}

/// The estimate of a spread sum assumes groups of this many elements.
constexpr std::uint64_t kReckonedGroup = 8;
/// The actual pieces have at least this many words.
constexpr std::uint64_t kLeastWords = 4;

}  // namespace

std::uint64_t product_cycles(const Shape& shape, std::uint64_t rows, std::uint64_t blocks,
                             std::uint64_t width, std::uint32_t workers) {
  if (shape.block == 1) {
    const ElementTerms& terms = shape.type == Type::f16 ? kHalf : kFloat;
    return element_worker(terms, rows, blocks, width) * workers;
  }
  const BlockTerms terms = block_terms(shape, ceil_div(width, std::uint64_t{workers}));
  const std::uint64_t load = std::uint64_t{shape.block} * shape.block * shape.bytes() / 8;
  return 30 + terms.start * workers +
         rows * (terms.row * workers + 17 + blocks * (16 + load + terms.block * workers));
}

std::uint64_t zeroing_cycles(const Shape& shape, std::uint64_t bytes, std::uint32_t workers) {
  if (shape.block < 8 || shape.partials == Type::f16) return 0;
  return (12 + ceil_div(bytes / 8, std::uint64_t{workers})) * workers;
}

std::uint64_t adding_cycles(const Shape& shape, std::uint64_t results, std::uint64_t partials,
                            std::uint32_t workers) {
  if (partials == 1) return 0;
  const bool half = shape.partials == Type::f16;
  const std::uint64_t vector = half ? 8 : 4;
  const std::uint64_t vectors = ceil_div(ceil_div(results, std::uint64_t{workers}), vector);
  return (16 + vectors * ((half ? 8 : 5) + 6 + partials - 1)) * workers;
}

bool ReductionPlacement::at_home(const Shape& shape, const Sum& sum) const {
  const std::uint64_t word = 8 / shape.partial_bytes();
  // As published, receiving the partials of a sum at home counts once, not once per source.
  const std::uint64_t home = ceil_div(sum.most_wanted * shape.partial_bytes(), bytes_per_cycle) +
                             sum.partials * ceil_div(sum.most_wanted, word) + sync_cycles;
  const std::uint64_t groups = ceil_div(sum.elements, kReckonedGroup);
  const std::uint64_t each = ceil_div(groups, std::uint64_t{tiles}) * kReckonedGroup;
  const std::uint64_t away =
      ceil_div(each * sum.partials * shape.partial_bytes(), bytes_per_cycle) +
      sum.partials * ceil_div(each, word) +
      ceil_div(sum.most_wanted * shape.bytes(), bytes_per_cycle) + 2 * sync_cycles;
  return home < away;
}

std::vector<ReductionPlacement::Piece> ReductionPlacement::spread(const Shape& shape,
                                                                  std::uint64_t elements,
                                                                  std::uint64_t number) const {
  // Published grain: a word of partials; ours must also be whole words of results, or columns of a
  // block.
  const std::uint64_t grain = shape.output_runs() > 1 ? shape.block : shape.lanes();
  const std::uint64_t grains = elements / grain;
  const std::uint64_t least = ceil_div(kLeastWords * 8 / shape.partial_bytes(), grain);
  const std::uint64_t most_pieces = std::max(grains / least, std::uint64_t{1});
  const std::uint64_t each =
      std::max(ceil_div(grains, std::uint64_t{tiles}), ceil_div(grains, most_pieces));
  const std::uint64_t count = ceil_div(grains, each);
  const std::uint64_t first = splitmix64(0, number) % tiles;
  std::vector<Piece> pieces;
  for (std::uint64_t i = 0; i < count; ++i) {
    pieces.push_back({static_cast<std::uint32_t>((first + i) % tiles), grains * i / count * grain,
                      grains * (i + 1) / count * grain});
  }
  return pieces;
}

}  // namespace tessera::sparse::published
