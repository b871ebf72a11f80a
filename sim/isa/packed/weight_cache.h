#pragma once

#include <cstdint>

/// The weight store W (64 words of 64 bits) as the matrix instructions see it: rows of one input's
/// weights for all outputs, so that the weights of a phase are contiguous words.
///
///   amp.h   f16 w[16 inputs][16 outputs]   phase p: inputs 4p..4p+3, words [16p, 16p + 16)
///   amp.hs  f16 w[16 inputs][8 outputs]    phase p: inputs 4p..4p+3, words [8p, 8p + 8)
///   amp.s   f32 w[8 inputs][16 outputs]    phase p: input p,         words [8p, 8p + 8)
///   amp.b   int8 w[8 inputs][8 outputs]    block b: words [8b, 8b + 8), read from W directly
///
/// So W is a row-major block of the right-hand matrix of x * W. A NaN in W counts as quiet.
namespace tessera::packed {

enum class AmpKind : std::uint8_t { none, h, hs, s };

/// W widened to f32, made at the first use by a kind of instruction. Holds while W stays the same:
/// one on the stack of whoever runs a worker is enough, since `ldcw` needs idle workers.
class WeightCache {
 public:
  /// 64-byte aligned, inputs x outputs floats.
  const float* rows(AmpKind kind, const std::uint64_t* words) {
    if (kind_ != kind) [[unlikely]]
      fill(kind, words);
    return rows_;
  }
  void clear() { kind_ = AmpKind::none; }

 private:
  void fill(AmpKind kind, const std::uint64_t* words);

  alignas(64) float rows_[256];
  AmpKind kind_ = AmpKind::none;
};

}  // namespace tessera::packed
