#include "kernels/sparse/operand/weights.h"

#include <algorithm>
#include <bit>

#include "kernels/sparse/operand/sources.h"
#include "sim/base/errors.h"
#include "sim/data/element.h"

namespace tessera::sparse {

namespace {

constexpr std::uint64_t kMostElements = std::uint64_t{1} << 29;  // 2 GiB of values on the host

void require_room(std::uint64_t blocks, const WeightOptions& weights,
                  std::uint64_t most = kMostElements) {
  const std::uint64_t area = std::uint64_t{weights.block} * weights.block;
  if (blocks <= most / area) return;
  throw UserError(
      "workload: found a W of {} x {} with {} blocks of {} x {}, {} elements, allowed up to {}{}",
      weights.m, weights.k, blocks, weights.block, weights.block, blocks * area, most,
      most < kMostElements ? ": the SRAM of all tiles" : "");
}

/// Approximate number of blocks.
std::uint64_t butterfly_blocks(std::uint32_t rows, std::uint32_t columns,
                               const WeightOptions& weights) {
  const Butterfly mask = butterfly_of(weights);
  const std::uint64_t entry = ceil_div(columns, mask.size);
  const std::uint64_t global = ceil_div(mask.global, weights.block);
  const std::uint64_t row = std::min<std::uint64_t>((1 + mask.factors) * entry + global, columns);
  return std::max<std::uint64_t>(rows * row, std::min<std::uint64_t>(global, rows) * columns);
}

/// Blocks of a seeded pattern before it is made: an upper bound for bands, a lower bound for
/// graphs, whose elements may share blocks.
std::uint64_t expected_blocks(const WeightOptions& weights) {
  const std::uint32_t rows = ceil_div(weights.m, weights.block);
  const std::uint32_t columns = ceil_div(weights.k, weights.block);
  const std::uint64_t places = std::uint64_t{rows} * columns;
  const std::uint64_t area = std::uint64_t{weights.block} * weights.block;
  switch (weights.pattern) {
    case Pattern::n_of_m:
      return rows * (std::uint64_t{columns / weights.group} * weights.keep +
                     std::min(columns % weights.group, weights.keep));
    case Pattern::banded:
      return rows * std::min<std::uint64_t>(columns, 2 * std::uint64_t{weights.bandwidth} + 1);
    case Pattern::butterfly:
      return butterfly_blocks(rows, columns, weights);
    case Pattern::poisson_2d:
    case Pattern::poisson_3d:
      return std::uint64_t{5} * weights.m / area;
    case Pattern::rmat:
      return share_of(std::uint64_t{weights.m} * weights.k, weights.density) / area;
    default:
      return share_of(places, weights.density);
  }
}

/// Converts a matrix of elements to blocks; throws if there are too many.
BlockMatrix blocks_of(const data::SparseMatrix& w, const WeightOptions& weights) {
  require_room(count_blocks(w, weights.block), weights);
  return to_blocks(w, weights.block);
}

BlockMatrix seeded(const WeightOptions& weights) {
  require_room(expected_blocks(weights), weights);
  const std::uint32_t rows = ceil_div(weights.m, weights.block);
  const std::uint32_t columns = ceil_div(weights.k, weights.block);
  const auto [density, seed] = std::pair(weights.density, weights.seed);
  switch (weights.pattern) {
    case Pattern::poisson_2d:
      return blocks_of(poisson_matrix(weights.m, 2), weights);
    case Pattern::poisson_3d:
      return blocks_of(poisson_matrix(weights.m, 3), weights);
    case Pattern::rmat:
      return blocks_of(rmat_matrix(weights), weights);
    case Pattern::row_skewed:
      return filled(row_skewed_pattern(rows, columns, density, weights.skew, seed), weights);
    case Pattern::n_of_m:
      return filled(n_of_m_pattern(rows, columns, weights.keep, weights.group, seed), weights);
    case Pattern::banded:
      return filled(banded_pattern(rows, columns, weights.bandwidth), weights);
    case Pattern::tile_wise: {
      const std::uint32_t strip = ceil_div(weights.granularity, weights.block);
      return filled(tile_wise_pattern(rows, columns, strip, density, seed), weights);
    }
    case Pattern::butterfly:
      return filled(butterfly_pattern(weights.m, weights.k, weights.block, butterfly_of(weights)),
                    weights);
    default:
      return filled(uniform_pattern(rows, columns, density, seed), weights);
  }
}

}  // namespace

Butterfly butterfly_of(const WeightOptions& weights) {
  const std::uint32_t side = std::min(weights.m, weights.k);
  if (weights.block > side) {
    throw KeyError("workload.block", "found {}, allowed up to {}: W is {} x {}", weights.block,
                   side, weights.m, weights.k);
  }
  const std::uint32_t largest = largest_butterfly(weights.m, weights.k, 1);
  const std::uint32_t size =
      weights.butterfly_size != 0
          ? weights.butterfly_size
          : std::max(largest_butterfly(weights.m, weights.k, weights.block), 2U);
  if (largest == 0 || size < 2 || !std::has_single_bit(size) || largest % size != 0) {
    throw KeyError("workload.butterfly_size",
                   largest == 0 ? fmt::format("found {} x {}, allowed an m and k that 2 divides",
                                              weights.m, weights.k)
                                : fmt::format("found {}, allowed powers of two from 2 to {}, which "
                                              "divide m ({}) and k ({})",
                                              size, largest, weights.m, weights.k));
  }
  const auto most = static_cast<std::uint32_t>(std::countr_zero(size));
  if (weights.factors > most) {
    throw KeyError("workload.factors", "found {}, allowed 0 (all) to {}: log2 of butterfly_size {}",
                   weights.factors, most, size);
  }
  return {size, weights.factors != 0 ? weights.factors : most, weights.global};
}

const WeightOptions& fitting(const WeightOptions& weights, std::uint64_t n,
                             const MachineConfig& machine) {
  if (!weights.matrix.empty()) return weights;
  constexpr std::uint64_t kCheap = std::uint64_t{1} << 24;  // below, the planner's error says more
  // Block counts of bands and butterflies are only approximate before they are made.
  const bool about = weights.pattern == Pattern::banded || weights.pattern == Pattern::butterfly;
  const std::uint64_t blocks = about ? 0 : expected_blocks(weights);
  const std::uint64_t area = std::uint64_t{weights.block} * weights.block;
  if (blocks > kMostElements / area) return weights;
  const std::uint64_t bytes = std::uint64_t{machine.tiles} * machine.tile.sram_kib * 1024;
  const std::uint64_t most = bytes / data::element_bytes(weights.dtype);
  const std::uint64_t dense = (std::uint64_t{weights.m} + weights.k) * n;
  if (dense > std::max(most, kCheap))
    throw UserError(
        "workload: found an X of {} x {} and a Y of {} x {}, {} elements, allowed up "
        "to {}: the SRAM of all tiles",
        weights.k, n, weights.m, n, dense, most);
  if (blocks > kCheap / area) require_room(blocks, weights, most);
  return weights;
}

BlockMatrix make_weights(const WeightOptions& weights) {
  if (weights.matrix.empty()) return seeded(weights);
  const BlockMatrix w = blocks_of(read_matrix_file(weights), weights);
  return weights.prune == Prune::blocks ? pruned_to_blocks(w, weights.density) : w;
}

}  // namespace tessera::sparse
