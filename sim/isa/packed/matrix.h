#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/isa/packed/weight_cache.h"

/// The matrix unit: adds x * W to accumulators, one phase per instruction, for every shape.
///
/// number7: bits 2:0 and 6:5 phase p, bit 3 start, bit 4 no-MAC. An instruction, in this order: (1)
/// start exchanges the banks ACC and EXC; (2) where the partials have a word p, the result is EXC's
/// slots of that word, rounded to the output type, and (3) those slots become the new partials,
/// else the result is 0; (4) unless no-MAC, for the inputs i of the phase in rising order, for each
/// output j: acc[j] = fma(x[i], w[i][j], acc[j]), rounded to f32 (nearest even). f16 products are
/// exact in f32. NaNs become canonical. Flags accrue as those of fcvt.s.h (x, partials), fmadd.s
/// and fcvt.h.s, left with the host (host_environment.h).
///
/// `rows` is WeightCache::rows of the kind.
namespace tessera::packed {

constexpr unsigned kAmpStart = 8;
constexpr unsigned kAmpNoMac = 16;
constexpr unsigned kMostOutputs = 128;

constexpr unsigned amp_phase(unsigned number) { return (number & 7U) | number >> 5 << 3; }
/// The number of a phase, without start and no-MAC.
constexpr unsigned amp_number(unsigned phase) { return (phase & 7U) | phase >> 3 << 5; }

/// Inputs and results of a position. Words are of 64 bits; word p * x_words / phases of x holds the
/// inputs of phase p, which takes partials and yields results if p < partial_words.
struct AmpShape {
  constexpr AmpShape() = default;
  constexpr AmpShape(AmpKind of, unsigned in, unsigned out)
      : kind(of),
        inputs(in),
        outputs(out),
        x_words(in / (of == AmpKind::s ? 2 : 4)),
        partial_words(out / (of == AmpKind::h ? 4 : 2)),
        phases(x_words > partial_words ? x_words : partial_words),
        usual(of == AmpKind::h    ? in == 16 && out == 16
              : of == AmpKind::hs ? in == 16 && out == 8
                                  : in == 8 && out == 16) {}

  AmpKind kind = AmpKind::none;
  unsigned inputs = 0;
  unsigned outputs = 0;
  unsigned x_words = 0;
  unsigned partial_words = 0;
  unsigned phases = 0;
  bool usual = false;  ///< has SIMD code for whole positions
};

/// The accumulators of a worker; each bank has one float per output of the unit.
struct Banks {
  float* acc = nullptr;
  float* exc = nullptr;
};

/// Execute one instruction amp.h, amp.hs or amp.s; `shape` must be of the same kind.
std::uint64_t amp_h(const AmpShape& shape, Banks& banks, const float* rows, std::uint64_t x,
                    std::uint64_t partials, unsigned number);
std::uint64_t amp_hs(const AmpShape& shape, Banks& banks, const float* rows, std::uint64_t x,
                     std::uint64_t partials, unsigned number);
std::uint64_t amp_s(const AmpShape& shape, Banks& banks, const float* rows, std::uint64_t x,
                    std::uint64_t partials, unsigned number);

/// `count` whole positions at once, each as its phases in order with start on phase 0: equal banks,
/// outputs and flags as single instructions; much faster for usual shapes. Position i takes x from
/// word x_words * i and partials from word partial_words * i, and writes its results to the latter
/// words of `out`. Little-endian words, any alignment. `out` must not overlap x, nor change
/// partials before they are read (overtakes).
void amp_positions(const AmpShape& shape, Banks& banks, const float* rows, std::size_t count,
                   const std::byte* x, const std::byte* partials, std::byte* out);

/// True if writing `bytes` at address `out`, word by word, changes words at `in` (as many bytes,
/// each read just before the write in step with it) before they are read.
constexpr bool overtakes(std::uint32_t out, std::uint32_t in, std::uint32_t bytes) {
  return in < out && out - in < bytes;
}

}  // namespace tessera::packed
