#include "kernels/gemm/replay.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "kernels/check/half.h"
#include "sim/data/random.h"

namespace tessera::gemm {

namespace {

using kernels::half_multiply_add;
using kernels::to_half;
using kernels::to_type;

constexpr std::uint64_t kLanes = 8;         // columns that are replayed together
constexpr std::uint64_t kBlockStream = 5;   // of random numbers
constexpr std::uint64_t kDepthBlocks = 16;  // whose weights stay in a host's cache

/// y[8] += x[depth] w[depth][8], one multiply-add after the other, of kRows rows; the step of w and
/// y in floats.
template <class MultiplyAdd>
void multiply_add(const std::array<const float*, Replay::kRows>& x, std::uint64_t depth,
                  const float* w, float* y, std::uint64_t step, const MultiplyAdd& one) {
  float sums[Replay::kRows][kLanes];
  for (std::uint64_t r = 0; r < Replay::kRows; ++r) std::copy_n(&y[r * step], kLanes, sums[r]);
  for (std::uint64_t i = 0; i < depth; ++i) {
    for (std::uint64_t r = 0; r < Replay::kRows; ++r) {
      for (std::uint64_t c = 0; c < kLanes; ++c) {
        sums[r][c] = one(x[r][i], w[i * step + c], sums[r][c]);
      }
    }
  }
  for (std::uint64_t r = 0; r < Replay::kRows; ++r) std::copy_n(sums[r], kLanes, &y[r * step]);
}

}  // namespace

std::uint64_t Replay::padded_columns() const {
  return round_up<std::uint64_t>(geometry_.block().columns, kLanes);
}

Replay::Weights Replay::weights(std::uint64_t column_block, Interval depth_blocks) const {
  const BlockShape& block = geometry_.block();
  const std::uint64_t first = depth_blocks.begin * block.depth;
  const std::uint64_t end = std::min<std::uint64_t>(depth_blocks.end * block.depth, product_.depth);
  const std::uint64_t column = column_block * block.columns;
  const std::uint64_t held = std::min<std::uint64_t>(block.columns, product_.columns - column);
  Weights its{{first, end}, std::vector<float>((end - first) * padded_columns())};
  for (std::uint64_t i = first; i < end; ++i) {
    const float* const row = &product_.w[i * product_.columns + column];
    // No prefetcher of a host's takes such steps.
    __builtin_prefetch(row + block.depth * product_.columns);
    std::copy_n(row, held, &its.values[(i - first) * padded_columns()]);
  }
  return its;
}

void Replay::add_depth(Interval rows, const Weights& weights, std::vector<float>& y) const {
  const BlockShape& block = geometry_.block();
  const std::uint64_t step = padded_columns();
  for (std::uint64_t first = weights.depth.begin; first < weights.depth.end; first += block.depth) {
    const std::uint64_t depth = std::min<std::uint64_t>(block.depth, weights.depth.end - first);
    const float* const w = &weights.values[(first - weights.depth.begin) * step];
    std::array<const float*, kRows> x;
    for (std::uint64_t r = 0; r < kRows; ++r) {
      const std::uint64_t row = std::min(rows.begin + r, rows.end - 1);
      x[r] = &product_.x[row * product_.depth + first];
    }
    for (std::uint64_t lane = 0; lane < step; lane += kLanes) {
      const auto add = [&](const auto& one) {
        multiply_add(x, depth, &w[lane], &y[lane], step, one);
      };
      if (narrow_sums(block)) {
        add(half_multiply_add);
      } else {
        add([](float value, float weight, float sum) { return std::fma(value, weight, sum); });
      }
    }
    if (block.partial != Type::f16) continue;
    for (float& sum : y) sum = to_half(sum);
  }
}

std::vector<std::vector<float>> Replay::blocks(std::span<const Interval> rows,
                                               std::uint64_t column_block) const {
  const Plan& plan = geometry_.plan();
  const std::vector<std::vector<float>> none(plan.split_k,
                                             std::vector<float>(kRows * padded_columns()));
  std::vector<std::vector<std::vector<float>>> parts(rows.size(), none);
  for (std::uint32_t part = 0; part < plan.split_k; ++part) {
    const Interval depth = geometry_.depth_blocks(part);
    for (std::uint64_t d = depth.begin; d < depth.end; d += kDepthBlocks) {
      const Weights w = weights(column_block, {d, std::min(d + kDepthBlocks, depth.end)});
      for (std::size_t i = 0; i < rows.size(); ++i) add_depth(rows[i], w, parts[i][part]);
    }
  }
  std::vector<std::vector<float>> values;
  values.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    values.push_back(finished(rows[i], column_block, parts[i]));
  }
  return values;
}

/// Parts of the depth added up, in the type of results.
std::vector<float> Replay::finished(Interval rows, std::uint64_t column_block,
                                    const std::vector<std::vector<float>>& parts) const {
  const BlockShape& block = geometry_.block();
  const Cell cell = geometry_.cell_of(rows.begin, column_block);
  std::vector<float> values(rows.size() * block.columns);
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    const std::uint64_t row = i / block.columns;
    const std::uint64_t at = row * padded_columns() + i % block.columns;
    const std::uint64_t own =
        adder(cell, rows.begin + row, column_block * block.columns + i % block.columns);
    float sum = parts[own][at];
    for (std::uint64_t part = 0; part < parts.size(); ++part) {
      if (part != own) sum = to_type(block.partial, sum + parts[part][at]);
    }
    values[i] = to_type(block.input, sum);
  }
  return values;
}

/// The part of the depth whose tile adds up an element: its own part comes first there.
std::uint64_t Replay::adder(const Cell& cell, std::uint64_t row, std::uint64_t column) const {
  if (geometry_.plan().split_k == 1) return 0;
  return geometry_.adder(cell, geometry_.y_index(cell, {row, column}));
}

double Replay::element(std::uint64_t row, std::uint64_t column) const {
  const std::uint64_t columns = geometry_.block().columns;
  const Interval one{row, row + 1};
  return static_cast<double>(blocks({&one, 1}, column / columns)[0][column % columns]);
}

Replay::Block Replay::chosen(std::uint32_t tile, std::uint64_t seed) const {
  const BlockShape& block = geometry_.block();
  const Cell cell = geometry_.cell(tile);
  const Interval share = geometry_.y_share(cell);
  if (share.size() == 0) return {};
  const std::uint64_t elements = share.size() / block.partial_bytes;
  const std::uint64_t index =
      share.begin / block.partial_bytes + data::random_below(seed, kBlockStream, tile, elements);
  const auto [row, column] = geometry_.y_place(cell, index);
  const std::uint64_t end = geometry_.rows(cell.row).end;
  return {{row, std::min(row + kRows, end)}, column / block.columns};
}

namespace {

/// The tiles' blocks, those of one column block after each other.
std::vector<std::vector<std::uint32_t>> by_columns(const std::vector<Replay::Block>& chosen) {
  std::map<std::uint64_t, std::vector<std::uint32_t>> tiles;
  for (std::uint32_t tile = 0; tile < chosen.size(); ++tile) {
    if (chosen[tile].rows.size() > 0) tiles[chosen[tile].column_block].push_back(tile);
  }
  std::vector<std::vector<std::uint32_t>> groups;
  groups.reserve(tiles.size());
  for (auto& [column_block, its] : tiles) groups.push_back(std::move(its));
  return groups;
}

/// What the machine has to make of them, [tile].
std::vector<std::vector<float>> replayed(const Replay& replay,
                                         const std::vector<Replay::Block>& chosen,
                                         HostThreads& threads) {
  std::vector<std::vector<float>> values(chosen.size());
  const auto groups = by_columns(chosen);
  threads.for_ranges(groups.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t group = begin; group < end; ++group) {
      std::vector<Interval> rows;
      for (const std::uint32_t tile : groups[group]) rows.push_back(chosen[tile].rows);
      auto its = replay.blocks(rows, chosen[groups[group].front()].column_block);
      for (std::size_t i = 0; i < its.size(); ++i) values[groups[group][i]] = std::move(its[i]);
    }
  });
  return values;
}

}  // namespace

void compare_blocks(const Geometry& geometry, const Finished& product, const Rounding& rounding,
                    std::uint64_t seed, HostThreads& threads, kernels::Comparison& comparison) {
  const Replay replay(geometry, product);
  const std::uint64_t columns = geometry.block().columns;
  std::vector<Replay::Block> chosen(geometry.tiles());
  for (std::uint32_t tile = 0; tile < chosen.size(); ++tile)
    chosen[tile] = replay.chosen(tile, seed);
  const std::vector<std::vector<float>> values = replayed(replay, chosen, threads);
  for (std::uint32_t tile = 0; tile < values.size(); ++tile) {
    const Replay::Block& block = chosen[tile];
    for (std::uint64_t i = 0; i < values[tile].size(); ++i) {
      const std::uint64_t row = block.rows.begin + i / columns;
      const std::uint64_t column = block.column_block * columns + i % columns;
      if (column >= product.columns) continue;
      const auto exact = static_cast<double>(values[tile][i]);
      const auto found = static_cast<double>(product.y[row * product.columns + column]);
      const double allowed = rounding.result * std::abs(exact) + rounding.smallest_result;
      comparison.add_replayed({row, column, found, exact, allowed}, exact);
    }
  }
}

}  // namespace tessera::gemm
