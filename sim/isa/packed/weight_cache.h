#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

/// The weight store W as the matrix instructions see it: rows of one input's weights for all
/// outputs, so that the weights of a phase are contiguous words: a row-major block of the
/// right-hand matrix of x * W. A NaN in W counts as quiet.
///
///   amp.h, amp.hs  f16 w[inputs][outputs]
///   amp.s          f32 w[inputs][outputs]
namespace tessera::packed {

enum class AmpKind : std::uint8_t { none, h, hs, s };

/// W widened to f32, made at the first use by a kind of instruction. Holds while W stays the same:
/// one on the stack of whoever runs a worker is enough, since `ldcw` needs idle workers.
class WeightCache {
 public:
  /// 64-byte aligned, `weights` floats: inputs x outputs of the machine's unit.
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
