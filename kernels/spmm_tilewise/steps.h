#pragma once

#include <functional>
#include <string_view>

#include "kernels/spmm_tilewise/exchanges.h"
#include "kernels/spmm_tilewise/weights.h"

/// What tiles compute, in the order in which they do.
namespace tessera::spmm_tilewise {

constexpr std::uint32_t word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

/// The program of a plan while it is put together. All references outlive the program.
struct Assembly {
  const Problem& problem;
  const Plan& plan;
  const TilePattern& pattern;
  const DenseWeights& w;
  std::uint32_t contexts;
  program::Program program;
  Buffers buffers;

  [[nodiscard]] const Group& group_of(const Job& job) const { return plan.groups[job.group]; }
  /// Whether results are packed from wider partial sums.
  [[nodiscard]] bool converts() const { return problem.block.input != problem.block.partial; }
  /// What the run begins with; of no bytes: no buffer.
  program::BufferId add_stored(std::uint32_t tile, std::uint32_t bytes, std::string_view name,
                               std::function<void(std::span<std::byte>)> fill) {
    if (bytes == 0) return {};
    return program.add_buffer(
        {TileId(tile), bytes, 8, false, program::Category::tensors, std::move(fill), name});
  }
};

/// A superstep's rows of A^T times its weights, on gemm's tile code: partial sums.
program::ComputeSet multiplied(Assembly& assembly, std::uint32_t cut);

/// f32 partial sums become f16 results, where they have to.
void add_packing(Assembly& assembly, program::ComputeSet& set);

/// Single elements of W times their rows of A^T, added to what the product has left, or alone.
void add_overlay(Assembly& assembly, program::ComputeSet& set);

}  // namespace tessera::spmm_tilewise
