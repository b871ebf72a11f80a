#include "kernels/gemm/core_product.h"

#include <algorithm>
#include <cstring>

#include "kernels/gemm/vector_operand.h"
#include "sim/base/errors.h"
#include "sim/elf/codelet.h"

namespace tessera::gemm {

namespace {

// Vector types of the instructions in codelets_tiles.S: bytes, inputs, outputs, bytes of a sum.
constexpr VectorType kVectorTypes[] = {
    {Type::i8, "i8", 1, 8, 8, 4}, {Type::i16, "i16", 2, 4, 4, 8}, {Type::bf16, "bf16", 2, 8, 4, 8}};

/// Pairs for a patch's blocks, at least one.
std::uint32_t pairs_of(std::uint64_t blocks) {
  return static_cast<std::uint32_t>(std::max(std::uint64_t{1}, ceil_div(blocks, std::uint64_t{2})));
}

/// Bytes of a tile's lists, including those read beyond their end.
std::uint32_t list_bytes(std::uint32_t patches, std::uint32_t pairs) {
  constexpr std::uint32_t kReadAhead = 3;
  return round_up((patches + 2 * pairs + kReadAhead) * 2, kSlotAlign);
}

void put_short(std::byte* at, std::uint32_t value) {
  const auto bits = static_cast<std::uint16_t>(value);
  std::memcpy(at, &bits, sizeof bits);
}

}  // namespace

const VectorType* vector_type(Type type) {
  const auto* const found = std::ranges::find(kVectorTypes, type, &VectorType::type);
  return found == std::end(kVectorTypes) ? nullptr : found;
}

std::string core_code(const VectorType& type, bool kept) {
  return fmt::format("{}_{}", kept ? "kept" : "product", type.name);
}

std::string shared_code(const VectorType& type, bool kept) {
  return fmt::format("{}_{}", kept ? "keeps" : "products", type.name);
}

std::string sum_code(const VectorType& type) { return fmt::format("sum_{}", type.name); }

std::vector<program::Argument> shared_arguments(std::span<const CoreProduct> workers,
                                                std::uint32_t contexts) {
  constexpr std::size_t kEach = 16;  // words
  std::vector<program::Argument> all;
  for (const CoreProduct& worker : workers) {
    const std::size_t end = all.size() + kEach;
    if (worker.tile.rows > 0 && worker.tile.columns > 0) {
      const std::vector<program::Argument> own = worker.arguments();
      all.insert(all.end(), own.begin(), own.end());
      if (worker.lists) all.push_back(worker.lists->steps);
    }
    all.resize(end);
  }
  all.resize(contexts * kEach);
  return all;
}

std::vector<program::Argument> CoreProduct::arguments() const {
  const std::uint32_t steps = tile.depth / type->inputs;
  const Patch patch = patch_of(*type, lists.has_value());
  const std::uint32_t columns = tile.columns / column_unit(*type, patch);
  check(tile.rows % patch.rows == 0 && tile.columns % column_unit(*type, patch) == 0 &&
            tile.depth % depth_unit(*type) == 0 && steps >= kFewestSteps,
        "gemm: a tile of {} x {} x {}", tile.rows, tile.columns, tile.depth);
  const std::uint32_t parts = tile.rows / patch.rows;
  const std::uint32_t a_bytes = word(tile.a_bytes(*type));
  std::vector<program::Argument> all{a, b, c, sums, zeros};
  if (lists)
    all.insert(all.end(), {columns, parts, a_bytes / parts, lists->pairs});
  else
    all.insert(all.end(), {steps / 2 - 1, columns, parts, a_bytes / parts, a_bytes,
                           word(tile.b_bytes(*type))});
  all.insert(all.end(),
             {shift, static_cast<std::uint32_t>(begins), static_cast<std::uint32_t>(ends)});
  return all;
}

KeptTiles::KeptTiles(const KeptBlocks& blocks, const VectorType& type, const CoreTile& tile,
                     std::uint32_t across, std::uint32_t steps)
    : blocks_(blocks),
      type_(type),
      patches_(tile.columns / kKeptColumns),
      depth_steps_(tile.depth / type.inputs),
      steps_(steps),
      pairs_(std::size_t{across} * steps) {
  std::vector<std::uint32_t> kept(steps);
  for (std::uint32_t patch = 0; patch < across * patches_; ++patch) {
    std::ranges::fill(kept, 0);
    if (patch < blocks.patches())
      for (std::uint64_t e = blocks.begin[patch]; e < blocks.begin[patch + 1]; ++e)
        ++kept[blocks.step[e] / depth_steps_];
    for (std::uint32_t step = 0; step < steps; ++step)
      pairs_[std::size_t{patch / patches_} * steps + step] += pairs_of(kept[step]);
  }
  most_ = std::ranges::max(pairs_);
}

std::uint32_t KeptTiles::list_bytes() const { return gemm::list_bytes(patches_, most_); }

/// Range of the blocks of a patch (numbered over all columns) in a step.
std::pair<std::uint64_t, std::uint64_t> KeptTiles::kept(std::uint32_t patch,
                                                        std::uint32_t step) const {
  if (patch >= blocks_.patches()) return {0, 0};
  const std::uint64_t first = blocks_.begin[patch];
  const auto steps = std::span(blocks_.step).subspan(first, blocks_.begin[patch + 1] - first);
  const auto at = [&](std::uint32_t bound) {
    return first +
           static_cast<std::uint64_t>(std::ranges::lower_bound(steps, bound) - steps.begin());
  };
  return {at(step * depth_steps_), at((step + 1) * depth_steps_)};
}

void KeptTiles::write_blocks(std::uint32_t column, std::uint32_t step,
                             std::span<std::byte> into) const {
  std::ranges::fill(into, std::byte{});
  const std::uint32_t block = kept_bytes(type_);
  const std::uint32_t values = type_.inputs * kKeptColumns;
  std::byte* to = into.data();
  for (std::uint32_t patch = 0; patch < patches_; ++patch) {
    const auto [first, last] = kept(column * patches_ + patch, step);
    for (std::uint64_t e = first; e < last; ++e)
      write_block(std::span(blocks_.value).subspan(e * values, values), to + (e - first) * block);
    to += std::size_t{2} * pairs_of(last - first) * block;
  }
}

void KeptTiles::write_lists(std::uint32_t column, std::uint32_t step,
                            std::span<std::byte> into) const {
  std::ranges::fill(into, std::byte{});
  const std::uint32_t step_bytes = kept_patch(type_).rows * type_.inputs * type_.bytes;  // of A
  std::byte* begins = into.data() + lists(0).steps;
  for (std::uint32_t patch = 0; patch < patches_; ++patch) {
    const auto [first, last] = kept(column * patches_ + patch, step);
    const std::uint32_t pairs = pairs_of(last - first);
    put_short(into.data() + std::size_t{2} * patch, pairs);
    for (std::uint64_t e = first; e < last; ++e)
      put_short(begins + (e - first) * 2, (blocks_.step[e] - step * depth_steps_) * step_bytes);
    begins += std::size_t{4} * pairs;
  }
}

std::uint32_t KeptTiles::pairs_of_patch(std::uint32_t column, std::uint32_t step,
                                        std::uint32_t patch) const {
  const auto [first, last] = kept(column * patches_ + patch, step);
  return pairs_of(last - first);
}

/// Converts [input][column] to [block of columns][input][column].
void KeptTiles::write_block(std::span<const float> values, std::byte* into) const {
  for (std::uint32_t input = 0; input < type_.inputs; ++input)
    for (std::uint32_t column = 0; column < kKeptColumns; ++column)
      store_number(type_, values[input * kKeptColumns + column],
                   into + std::size_t{type_.place(input, column)} * type_.bytes);
}

KeptSample::KeptSample(const VectorType& type, std::uint32_t patches, std::uint32_t pairs)
    : lists{2 * pairs * kept_bytes(type), 2 * pairs * kept_bytes(type) + 2 * patches},
      bytes(lists.pairs + list_bytes(patches, pairs)) {
  const EvenSplit divided{pairs, patches};
  for (std::uint32_t patch = 0; patch < patches; ++patch)
    put_short(bytes.data() + lists.pairs + std::size_t{2} * patch,
              static_cast<std::uint32_t>(divided.part(patch).size()));
}

}  // namespace tessera::gemm
