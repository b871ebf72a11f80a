#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

/// The weight store W in the layout of the matrix instructions: a row-major block of the right-hand
/// matrix of x * W, so that a row holds one input's weights for all outputs and a phase's weights
/// are contiguous. A NaN in W counts as quiet.
///
///   amp.h, amp.hs  f16 w[inputs][outputs]
///   amp.s          f32 w[inputs][outputs]
namespace tessera::packed {

enum class AmpKind : std::uint8_t { none, h, hs, s };

/// W widened to f32, filled at the first use by a kind of instruction. Valid while W is unchanged:
/// one per run of a worker suffices, since `ldcw` needs idle workers.
class WeightCache {
 public:
  /// The rows, 64-byte aligned: `weights` floats, inputs x outputs of the machine's unit.
  const float* rows(AmpKind kind, std::uint32_t weights, const std::uint64_t* words) {
    if (kind_ != kind) [[unlikely]]
      fill(kind, weights, words);
    return rows_.get();
  }
  void clear() { kind_ = AmpKind::none; }

 private:
  struct Free {
    void operator()(float* rows) const { std::free(rows); }
  };
  void fill(AmpKind kind, std::uint32_t weights, const std::uint64_t* words);

  std::unique_ptr<float, Free> rows_;
  std::uint32_t size_ = 0;  ///< size of rows_
  AmpKind kind_ = AmpKind::none;
};

}  // namespace tessera::packed
