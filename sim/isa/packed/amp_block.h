#pragma once

#include <array>
#include <cstddef>
#include <iterator>

/// Some positions of a matrix instruction at once, their sums in registers: each position's chain
/// of additions is in order, and the chains hide each other's latency (eight do so fully).
///
/// A block answers false, with nothing changed but flags that its instructions set anyway, when a
/// sum became NaN: the plain implementation then does it again (x86's multiply-add does not flag
/// infinity times zero beside a NaN). The banks must hold canonical NaNs only.
namespace tessera::packed {

using AmpBlock = bool (*)(float* acc, float* exc, const float* rows, const std::byte* x,
                          const std::byte* partials, std::byte* out);

/// Blocks of 8, 4, 2 and 1 positions; none (nullptr) where the host has no SIMD code here.
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
/// The best for this host.
AmpBlocks host_blocks();

}  // namespace tessera::packed
