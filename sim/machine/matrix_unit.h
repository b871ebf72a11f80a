#pragma once

#include <algorithm>
#include <cstdint>

namespace tessera::config {
class Fields;
}

namespace tessera {

/// The matrix unit's operation for one type: an activation row (position) of `inputs` values of x
/// yields `outputs` sums, in phases of one amp.* instruction each. An operand is an f register, so
/// a phase takes at most 8 bytes of x and 8 of partials; vector types take four rows per
/// instruction. No outputs: the unit lacks the type.
struct MatrixShape {
  static constexpr std::uint32_t kOperandBytes = 8;
  static constexpr std::uint32_t kMostOutputs = 128;
  static constexpr std::uint32_t kMostPhases = 32;

  std::uint32_t inputs;
  std::uint32_t outputs;
  std::uint32_t interval;  ///< cycles between phases, as in IntervalConfig
  // Fixed for the type on every machine:
  std::uint32_t input_bytes;
  std::uint32_t partial_bytes;  ///< 0: vector type, whose sums stay in the accumulators
  std::uint32_t positions;      ///< activation rows per instruction

  [[nodiscard]] constexpr bool exists() const { return outputs != 0; }
  [[nodiscard]] constexpr bool has_vectors() const { return partial_bytes == 0; }
  [[nodiscard]] constexpr std::uint32_t x_words() const {
    return inputs * input_bytes / kOperandBytes;
  }
  [[nodiscard]] constexpr std::uint32_t partial_words() const {
    return outputs * partial_bytes / kOperandBytes;
  }
  [[nodiscard]] constexpr std::uint32_t phases() const {
    return has_vectors() ? 1 : std::max(x_words(), partial_words());
  }
  /// 64-bit words of a weight block in the store W.
  [[nodiscard]] constexpr std::uint32_t weight_words() const {
    return inputs * outputs * input_bytes / kOperandBytes;
  }
  /// Multiply-adds per instruction.
  [[nodiscard]] constexpr std::uint32_t macs() const {
    return exists() ? positions * inputs * outputs / phases() : 0;
  }
  [[nodiscard]] constexpr double macs_per_slot() const {
    return static_cast<double>(macs()) / interval;
  }
  /// True if tile code and ISA support the shape: see kAllowedShapes in matrix_unit.cpp.
  [[nodiscard]] bool allowed() const;
  bool operator==(const MatrixShape&) const = default;
};

/// The unit's shapes; a name gives the type of the inputs, then of the partials if different.
struct MatrixUnitConfig {
  MatrixShape f16{16, 0, 1, 2, 2, 1};      ///< amp.h
  MatrixShape f16_f32{16, 0, 1, 2, 4, 1};  ///< amp.hs
  MatrixShape f32{8, 0, 1, 4, 4, 1};       ///< amp.s
  // Vector types, whose registers each worker has:
  MatrixShape i8{8, 0, 1, 1, 0, 4};    ///< amp.b
  MatrixShape i16{4, 0, 1, 2, 0, 4};   ///< amp.i16
  MatrixShape bf16{8, 0, 1, 2, 0, 4};  ///< amp.bf16
  std::uint32_t weight_load_bytes_per_cycle = 8;
  bool smaller_blocks = true;  ///< also takes those, as fast as a unit of that size (run.block)

  [[nodiscard]] constexpr bool has_vectors() const {
    return i8.exists() || i16.exists() || bf16.exists();
  }
  /// `shape` with blocks of `inputs` x `outputs`; its `outputs` are 0 if the unit cannot take them.
  [[nodiscard]] MatrixShape with_block(const MatrixShape& shape, std::uint32_t inputs,
                                       std::uint32_t outputs) const;
  /// The unit with the blocks that run.block `number` selects, vector types unchanged; 0: as it is.
  [[nodiscard]] MatrixUnitConfig with_blocks(std::uint32_t number) const;

  /// Words of the weight store, and sums of an accumulator bank: the maximum over all but vector
  /// types, whose weights and sums have registers of their own.
  [[nodiscard]] std::uint32_t weight_words() const;
  [[nodiscard]] std::uint32_t bank_sums() const;
};

void describe(config::Fields& fields, MatrixShape& shape);
void describe(config::Fields& fields, MatrixUnitConfig& unit);

}  // namespace tessera
