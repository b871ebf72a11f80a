#pragma once

#include <array>
#include <cstddef>
#include <iterator>

/// Several positions of a matrix instruction at once, with sums in registers: each position's chain
/// of additions is in order, and the chains hide each other's latency (eight fully).
///
/// A block returns false, with no effect except flags that its instructions set anyway, if a sum
/// became NaN: the plain implementation then repeats it (x86's multiply-add does not flag infinity
/// times zero plus a NaN). The banks must hold only canonical NaNs.
namespace tessera::packed {

using AmpBlock = bool (*)(float* acc, float* exc, const float* rows, const std::byte* x,
                          const std::byte* partials, std::byte* out);

/// Blocks of 8, 4, 2 and 1 positions; nullptr without SIMD code for the host.
constexpr std::size_t kBlockSizes[] = {8, 4, 2, 1};
using AmpBlockSet = std::array<AmpBlock, std::size(kBlockSizes)>;

struct AmpBlocks {
  AmpBlockSet h{};
  AmpBlockSet hs{};
  AmpBlockSet s{};
};
/// For hosts with AVX2, and with AVX-512 as well: x86-64 builds only.
AmpBlocks avx2_blocks();
AmpBlocks avx512_blocks();
bool host_has_avx512();
/// The fastest blocks for this host.
AmpBlocks host_blocks();

}  // namespace tessera::packed
