#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/isa/packed/weight_cache.h"

/// The matrix unit: x * W added to accumulators, one phase an instruction.
///
/// imm5: bits 2:0 phase p, bit 3 start, bit 4 no-MAC. An instruction, in this order: (1) start
/// exchanges the banks ACC and EXC; (2) the result is EXC's slots of phase p, rounded to the output
/// type; (3) those slots become the new partials; (4) unless no-MAC, for the inputs i of the phase
/// in rising order, for each output j: acc[j] = fma(x[i], w[i][j], acc[j]), rounded to f32 (nearest
/// even). f16 products are exact in f32. NaNs become canonical. Flags accrue as those of
/// fcvt.s.h (x, partials), fmadd.s and fcvt.h.s, left with the host (host_environment.h).
///
/// `acc` and `exc` are banks of 16 floats; `rows` is WeightCache::rows of the kind.
namespace tessera::packed {

constexpr unsigned kAmpPhase = 7;
constexpr unsigned kAmpStart = 8;
constexpr unsigned kAmpNoMac = 16;

/// Outputs and partials of phase p: 4 f16, slots 4p..4p+3.
std::uint64_t amp_h(float* acc, float* exc, const float* rows, std::uint64_t x,
                    std::uint64_t partials, unsigned imm5);
/// Outputs and partials of phase p: 2 f32, slots 2p and 2p+1 (of 8).
std::uint64_t amp_hs(float* acc, float* exc, const float* rows, std::uint64_t x,
                     std::uint64_t partials, unsigned imm5);
/// Outputs and partials of phase p: 2 f32, slots 2p and 2p+1; the input is lane p & 1 of x.
std::uint64_t amp_s(float* acc, float* exc, const float* rows, std::uint64_t x,
                    std::uint64_t partials, unsigned imm5);

/// a: 4 rows of 8 int8 (byte k: input k); block: 8 words of W (word k byte j: input k, output j).
/// Accumulator 8 * row + j, in acc and then exc as 32 x i32, wraps. `clear` empties them first.
void amp_b(float* acc, float* exc, const std::uint64_t* a, const std::uint64_t* block, bool clear);
/// srs.b: accumulators 8 * group .. + 7 shifted right (0-31) to nearest even, saturated to int8.
std::uint64_t srs_b(const float* acc, const float* exc, unsigned group, unsigned shift);

/// `count` whole positions at once, each as its phases in order with start on phase 0: the same
/// banks, outputs and flags as instruction by instruction, many times faster. Phase p of position i
/// takes its partials from word phases * i + p and writes its result to the same word of `out`; x
/// has 4 words a position (amp.s: words 4i + p / 2). Little-endian words, any alignment. `out` must
/// not overlap x, nor change partials before they are read (overtakes).
void amp_h_positions(float* acc, float* exc, const float* rows, std::size_t count,
                     const std::byte* x, const std::byte* partials, std::byte* out);
void amp_hs_positions(float* acc, float* exc, const float* rows, std::size_t count,
                      const std::byte* x, const std::byte* partials, std::byte* out);
void amp_s_positions(float* acc, float* exc, const float* rows, std::size_t count,
                     const std::byte* x, const std::byte* partials, std::byte* out);

/// Whether writing `bytes` at address `out`, word by word, changes words of `in` (as many bytes,
/// read in step and first) before they are read.
constexpr bool overtakes(std::uint32_t out, std::uint32_t in, std::uint32_t bytes) {
  return in < out && out - in < bytes;
}

}  // namespace tessera::packed
