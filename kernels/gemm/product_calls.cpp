#include <algorithm>

#include <fmt/format.h>

#include "kernels/gemm/core_product.h"

namespace tessera::gemm {
namespace {

using kernels::behind;
using Operands = std::span<const Place>;

struct Sample {
  CoreTile tile;
  std::uint32_t patches, pairs;  ///< patches, and pairs of kept blocks

  [[nodiscard]] KeptSample kept(const VectorType& type) const { return {type, patches, pairs}; }
};

CoreTile tile_of(const CallKind& kind, std::uint64_t parts, std::uint64_t patches,
                 std::uint64_t turns) {
  const Patch patch = patch_of(*kind.type, kind.kept);
  return {word(parts * patch.rows), word(patches * column_unit(*kind.type, patch)),
          word(least_depth(*kind.type) + turns * depth_unit(*kind.type))};
}

/// The function of a call of one worker or (shared) of all workers of a tile; samples give all the
/// same A and B.
plan::Function call_of(const kernels::Codelet& code, const CallKind& kind, bool shared,
                       std::vector<FittedCost::Axis> axes,
                       const std::function<Sample(const Sizes&)>& sample) {
  const VectorType& type = *kind.type;
  const std::uint32_t callers = shared ? code.contexts : 1;
  const auto vertex = [=](const Sizes& sizes, Operands of) {
    const Sample each = sample(sizes);
    std::vector<CoreProduct> all;
    for (std::uint32_t w = 0; w < callers; ++w)
      all.push_back(
          {kind.type, each.tile, of[0], of[1], behind(of[2], w * each.tile.c_bytes(*kind.type)),
           behind(of[3], w * each.tile.sum_bytes(*kind.type)), of[4], 0, kind.begins, kind.ends});
    if (kind.kept) {
      const auto [pairs, steps] = each.kept(*kind.type).lists;
      for (CoreProduct& one : all) {
        one.lists = {pairs, steps};
        if (shared) one.lists = {behind(of[1], pairs), behind(of[1], steps)};
      }
    }
    return code.all(shared ? shared_arguments(all, callers) : all.front().arguments());
  };
  plan::Function made{
      fmt::format("{} {} {}", shared ? shared_code(type, kind.kept) : core_code(type, kind.kept),
                  static_cast<int>(kind.begins), static_cast<int>(kind.ends)),
      std::move(axes), vertex, [=](const Sizes& sizes) -> std::vector<std::uint64_t> {
        const Sample each = sample(sizes);
        const CoreTile& tile = each.tile;
        const std::uint64_t b_bytes =
            kind.kept ? each.kept(*kind.type).bytes.size() + std::size_t{2} * kept_bytes(*kind.type)
                      : tile.b_bytes(*kind.type);
        return {tile.a_bytes(*kind.type), b_bytes, callers * tile.c_bytes(*kind.type),
                callers * tile.sum_bytes(*kind.type), kZeroBytes};
      }};
  if (kind.kept)
    made.contents = [=](const Sizes& sizes, std::size_t operand, std::span<std::byte> into) {
      std::ranges::fill(into, std::byte{});
      if (operand == 1) std::ranges::copy(sample(sizes).kept(*kind.type).bytes, into.begin());
    };
  return made;
}

}  // namespace

plan::Function product_of(const kernels::Codelet& code, const CallKind& kind) {
  const std::vector measured(4, FittedCost::Axis::measured());
  return call_of(code, kind, false, measured, [=](const Sizes& sizes) -> Sample {
    return {tile_of(kind, sizes[0], sizes[1], sizes[2]), word(sizes[1]), word(sizes[1] * sizes[3])};
  });
}

plan::Function products_of(const kernels::Codelet& code, const CallKind& kind) {
  return call_of(code, kind, true, {{}, {}, {1, 0, 2}}, [=](const Sizes& sizes) -> Sample {
    return {tile_of(kind, sizes[0], sizes[1], kind.kept ? 0 : sizes[2]), word(sizes[1]),
            word(sizes[1] + sizes[2])};
  });
}

plan::Function sum_of(const kernels::Codelet& code, const VectorType& type, std::uint32_t shift) {
  return {fmt::format("{} {}", sum_code(type), shift),
          {{code.contexts, std::uint64_t{8} * code.contexts, 32}, {}},
          [=](const Sizes& sizes, Operands of) {
            return code.all(code.dealt(
                {shift, word(sizes[0] * kSumBytes), word(sizes[1])}, sizes[0],
                [&](Interval part, kernels::Arguments& into) {
                  into.insert(into.end(), {behind(of[0], part.begin * kSumBytes),
                                           behind(of[1], part.begin * kResultBytes),
                                           word(part.size() * kSumBytes / 4), word(part.size())});
                }));
          },
          [](const Sizes& sizes) -> std::vector<std::uint64_t> {
            return {sizes[0] * kSumBytes * (sizes[1] + 1), sizes[0] * kResultBytes};
          }};
}

std::uint32_t rows_of_workers(std::uint32_t parts, std::uint32_t patches, std::uint32_t contexts) {
  const auto most = [=](std::uint32_t rows) {
    return ceil_div(parts, rows) * ceil_div(patches, contexts / rows);
  };
  std::uint32_t best = 1;
  for (std::uint32_t rows = 2; rows <= contexts; ++rows)
    if (most(rows) < most(best)) best = rows;
  return best;
}

}  // namespace tessera::gemm
