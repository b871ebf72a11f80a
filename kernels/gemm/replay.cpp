#include "kernels/gemm/replay.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/check/half.h"
#include "sim/data/random.h"

namespace tessera::gemm {

namespace {

using kernels::half_multiply_add;
using kernels::to_half;

constexpr std::uint64_t kLanes = 8;        // columns that are replayed together
constexpr std::uint64_t kBlockStream = 5;  // of random numbers

float to_type(Type type, float value) { return type == Type::f16 ? to_half(value) : value; }

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

void Replay::add_depth_block(Interval rows, std::uint64_t column_block, std::uint64_t depth_block,
                             std::vector<float>& y) const {
  const BlockShape& block = geometry_.block();
  const std::uint64_t step = padded_columns();
  const std::uint64_t first = depth_block * block.depth;
  const std::uint64_t depth = std::min<std::uint64_t>(block.depth, product_.depth - first);
  const std::uint64_t column = column_block * block.columns;
  const std::uint64_t held = std::min<std::uint64_t>(block.columns, product_.columns - column);
  std::vector<float> w(depth * step);
  for (std::uint64_t i = 0; i < depth; ++i) {
    const float* const row = &product_.w[(first + i) * product_.columns + column];
    // The same of the next block; no prefetcher of a host's takes such steps.
    __builtin_prefetch(row + block.depth * product_.columns);
    std::copy_n(row, held, &w[i * step]);
  }
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
  if (block.partial == Type::f16)
    std::transform(y.begin(), y.end(), y.begin(), [](float sum) { return to_half(sum); });
}

std::vector<float> Replay::block(Interval rows, std::uint64_t column_block) const {
  const BlockShape& block = geometry_.block();
  const Plan& plan = geometry_.plan();
  const std::uint64_t step = padded_columns();
  std::vector<std::vector<float>> parts(plan.split_k, std::vector<float>(kRows * step));
  for (std::uint32_t part = 0; part < plan.split_k; ++part) {
    const Interval depth = geometry_.depth_blocks(part);
    for (std::uint64_t d = depth.begin; d < depth.end; ++d) {
      add_depth_block(rows, column_block, d, parts[part]);
    }
  }
  const Cell cell = geometry_.cell_of(rows.begin, column_block);
  std::vector<float> values(rows.size() * block.columns);
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    const std::uint64_t row = i / block.columns;
    const std::uint64_t at = row * step + i % block.columns;
    const std::uint64_t own =
        adder(cell, rows.begin + row, column_block * block.columns + i % block.columns);
    float sum = parts[own][at];
    for (std::uint64_t part = 0; part < plan.split_k; ++part) {
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
  return static_cast<double>(block({row, row + 1}, column / columns)[column % columns]);
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

void compare_blocks(const Geometry& geometry, const Finished& product, const Rounding& rounding,
                    std::uint64_t seed, HostThreads& threads, kernels::Comparison& comparison) {
  const Replay replay(geometry, product);
  const std::uint64_t columns = geometry.block().columns;
  std::vector<std::vector<float>> values(geometry.tiles());
  const auto chosen = [&](std::uint32_t tile) { return replay.chosen(tile, seed); };
  threads.for_ranges(values.size(), 8, [&](std::size_t begin, std::size_t end) {
    for (std::size_t tile = begin; tile < end; ++tile) {
      const Replay::Block block = chosen(static_cast<std::uint32_t>(tile));
      if (block.rows.size() > 0) values[tile] = replay.block(block.rows, block.column_block);
    }
  });
  for (std::uint32_t tile = 0; tile < values.size(); ++tile) {
    const Replay::Block block = chosen(tile);
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
