#include "kernels/gemm/core_product.h"

#include <algorithm>
#include <cstring>

#include "kernels/gemm/vector_operand.h"
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

namespace {

/// Of a patch's blocks.
std::uint32_t pairs_of(std::uint64_t blocks) {
  return static_cast<std::uint32_t>(std::max(std::uint64_t{1}, ceil_div(blocks, std::uint64_t{2})));
}

/// Of a tile, with what is read beyond their end.
std::uint32_t list_bytes(std::uint32_t patches, std::uint32_t pairs) {
  constexpr std::uint32_t kReadAhead = 3;
  return round_up((patches + 2 * pairs + kReadAhead) * 2, kSlotAlign);
}

void put_short(std::byte* at, std::uint32_t value) {
  const auto bits = static_cast<std::uint16_t>(value);
  std::memcpy(at, &bits, sizeof bits);
}

}  // namespace

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

std::uint32_t KeptTiles::bytes() const { return lists() + list_bytes(patches_, most_); }

/// Numbers of the blocks of a patch, of all columns, in a step.
std::pair<std::uint64_t, std::uint64_t> KeptTiles::kept(std::uint32_t patch,
                                                        std::uint32_t step) const {
  if (patch >= blocks_.patches()) return {0, 0};
  const auto at = [&](std::uint32_t bound) {
    const auto row = blocks_.step.begin();
    return static_cast<std::uint64_t>(
        std::lower_bound(row + static_cast<std::ptrdiff_t>(blocks_.begin[patch]),
                         row + static_cast<std::ptrdiff_t>(blocks_.begin[patch + 1]), bound) -
        row);
  };
  return {at(step * depth_steps_), at((step + 1) * depth_steps_)};
}

void KeptTiles::write(std::uint32_t column, std::uint32_t step, std::span<std::byte> into) const {
  std::ranges::fill(into, std::byte{});
  const std::uint32_t step_bytes = kept_patch(type_).rows * type_.inputs * type_.bytes;  // of A
  const std::uint32_t block = kept_bytes(type_);
  const std::uint32_t values = type_.inputs * kKeptColumns;
  std::byte* to = into.data();
  std::byte* counts = into.data() + lists();
  std::byte* begins = counts + std::size_t{2} * patches_;
  for (std::uint32_t patch = 0; patch < patches_; ++patch) {
    const auto [first, last] = kept(column * patches_ + patch, step);
    const std::uint32_t pairs = pairs_of(last - first);
    put_short(counts + std::size_t{2} * patch, pairs);
    for (std::uint64_t e = first; e < last; ++e) {
      put_short(begins + (e - first) * 2, (blocks_.step[e] - step * depth_steps_) * step_bytes);
      write_block(std::span(blocks_.value).subspan(e * values, values), to + (e - first) * block);
    }
    to += std::size_t{2} * pairs * block;
    begins += std::size_t{4} * pairs;
  }
}

/// From [input][column] to [block of columns][input][column].
void KeptTiles::write_block(std::span<const float> values, std::byte* into) const {
  for (std::uint32_t input = 0; input < type_.inputs; ++input)
    for (std::uint32_t column = 0; column < kKeptColumns; ++column) {
      const std::uint32_t at =
          (column / type_.outputs * type_.inputs + input) * type_.outputs + column % type_.outputs;
      store_number(type_, values[input * kKeptColumns + column],
                   into + std::size_t{at} * type_.bytes);
    }
}

KeptSample::KeptSample(const VectorType& type, std::uint32_t patches, std::uint32_t pairs)
    : lists(2 * patches * pairs * kept_bytes(type)),
      bytes(lists + list_bytes(patches, patches * pairs)) {
  for (std::uint32_t patch = 0; patch < patches; ++patch)
    put_short(bytes.data() + lists + std::size_t{2} * patch, pairs);
}

}  // namespace tessera::gemm
