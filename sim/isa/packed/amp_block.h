#pragma once

#include <cstddef>

/// Eight positions of a matrix instruction at once, their sums in registers: each position's chain
/// of additions is in order, and the eight chains hide each other's latency.
///
/// A block answers false, with nothing changed but flags that its instructions set anyway, when a
/// sum became NaN: the plain implementation then does it again (x86's multiply-add does not flag
/// infinity times zero beside a NaN). The banks must hold canonical NaNs only.
namespace tessera::packed {

constexpr std::size_t kBlockPositions = 8;

using AmpBlock = bool (*)(float* acc, float* exc, const float* rows, const std::byte* x,
                          const std::byte* partials, std::byte* out);

/// None (nullptr) where the host has no SIMD code here.
struct AmpBlocks {
  AmpBlock h = nullptr;
  AmpBlock hs = nullptr;
  AmpBlock s = nullptr;
};
/// For hosts with AVX2, and with AVX-512 as well: x86-64 builds only.
AmpBlocks avx2_blocks();
AmpBlocks avx512_blocks();
bool host_has_avx512();
/// The best for this host.
AmpBlocks host_blocks();

}  // namespace tessera::packed
