#include "kernels/sparse/published/reduction_placement.h"

#include <algorithm>

#include "sim/base/splitmix.h"
#include "sim/base/types.h"

namespace tessera::sparse::published {

namespace {

/// A spread sum is reckoned to be cut into groups of so many elements.
constexpr std::uint64_t kReckonedGroup = 8;
/// And is cut into pieces of at least so many words.
constexpr std::uint64_t kLeastWords = 4;

}  // namespace

bool ReductionPlacement::at_home(const Shape& shape, const Sum& sum) const {
  const std::uint64_t word = 8 / shape.partial_bytes();
  // As published, the partials that a tile takes at home are reckoned once, not for every source.
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
  // As published a word of partials; ours also whole words of results, or of a block's columns.
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
