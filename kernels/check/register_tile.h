#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/layout.h"

/// Matrix products in host registers: the inner loops of signed sums. Each sum adds its products
/// in order of depth on every host.
namespace tessera::kernels {

/// A matrix of floats: element (i, j) at data[i * row_step + j * column_step]; one step is 1.
struct MatrixView {
  const float* data;
  std::uint64_t row_step, column_step;

  [[nodiscard]] MatrixView from(std::uint64_t row, std::uint64_t column) const {
    return {data + row * row_step + column * column_step, row_step, column_step};
  }
};

constexpr std::size_t kTileRows = 4;
/// Columns of a register tile: kTileRows rows of them fill twelve 256-bit registers.
template <class Number>
constexpr std::size_t kTileColumns = 96 / sizeof(Number);

/// Packs rows of `from` as left operands of register tiles: [row / 4][column][row % 4]. Zero rows
/// pad the last tile.
template <class Number>
void pack_rows(const MatrixView& from, std::uint64_t rows, std::uint64_t columns, Number* into) {
  constexpr std::uint64_t kAhead = 16, kLine = 16;  // hosts do not prefetch such strides
  const std::uint64_t whole = rows / kTileRows * kTileRows;
  if (from.column_step == 1) {
    for (std::uint64_t row = 0; row < whole; row += kTileRows) {
      const float* const first = from.data + row * from.row_step;
      Number* const its = into + row * columns;
      for (std::uint64_t j = 0; j < columns; ++j) {
        for (std::uint64_t r = 0; r < kTileRows; ++r) {
          its[j * kTileRows + r] = static_cast<Number>(first[r * from.row_step + j]);
        }
      }
    }
  } else {
    for (std::uint64_t j = 0; j < columns; ++j) {
      const float* const values = from.data + j * from.column_step;
      for (std::uint64_t row = 0; row < rows; row += kLine)
        __builtin_prefetch(values + kAhead * from.column_step + row);
      for (std::uint64_t row = 0; row < whole; row += kTileRows) {
        Number* const its = into + row * columns + j * kTileRows;
        for (std::uint64_t r = 0; r < kTileRows; ++r) its[r] = static_cast<Number>(values[row + r]);
      }
    }
  }
  if (whole == rows) return;
  for (std::uint64_t j = 0; j < columns; ++j) {
    for (std::uint64_t r = 0; r < kTileRows; ++r) {
      const std::uint64_t row = whole + r;
      into[whole * columns + j * kTileRows + r] =
          row < rows ? static_cast<Number>(from.data[row * from.row_step + j * from.column_step])
                     : Number{0};
    }
  }
}

/// The numbers in one 256-bit register.
template <class Number>
struct Lanes {
  using Type [[gnu::vector_size(32)]] = Number;
  static constexpr std::size_t kCount = 32 / sizeof(Number);

  static Type load(const Number* from) {
    Type lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
  }
  /// factor * lanes + sums, rounded once.
  static Type multiply_add(Number factor, const Type& lanes, Type sums) {
    for (std::size_t i = 0; i < kCount; ++i) sums[i] = std::fma(factor, lanes[i], sums[i]);
    return sums;
  }
};

/// sums[row * step + column] += left [4][depth], packed by pack_rows(), times right
/// [depth][kTileColumns].
template <class Number>
void multiply_add_tile(const Number* left, const Number* right, std::uint64_t depth, Number* sums,
                       std::uint64_t step) {
  using L = Lanes<Number>;
  constexpr std::size_t kRegisters = kTileColumns<Number> / L::kCount;
  typename L::Type tile[kTileRows][kRegisters];
  std::array<typename L::Type, kRegisters> row;
  for (std::size_t r = 0; r < kTileRows; ++r) {
    for (std::size_t c = 0; c < kRegisters; ++c) {
      tile[r][c] = L::load(sums + r * step + c * L::kCount);
    }
  }
  for (std::uint64_t k = 0; k < depth; ++k) {
    for (std::size_t c = 0; c < kRegisters; ++c) {
      row[c] = L::load(right + k * kTileColumns<Number> + c * L::kCount);
    }
    for (std::size_t r = 0; r < kTileRows; ++r) {
      for (std::size_t c = 0; c < kRegisters; ++c) {
        tile[r][c] = L::multiply_add(left[k * kTileRows + r], row[c], tile[r][c]);
      }
    }
  }
  for (std::size_t r = 0; r < kTileRows; ++r) std::memcpy(sums + r * step, tile[r], sizeof tile[r]);
}

}  // namespace tessera::kernels
