#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/gemm/panels.h"
#include "kernels/training/builder.h"
#include "sim/data/element.h"
#include "sim/machine/machine_config.h"

namespace tessera::training {

/// A matrix of f32 or f16 on the machine: row-major, padded with zeros to whole blocks of the
/// matrix unit in both directions, dealt in equal stretches to all tiles.
struct Matrix {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::uint32_t padded_rows = 0;
  std::uint32_t pitch = 0;  ///< elements from row to row: columns with padding
  gemm::Rows lies;
  program::Type type = program::Type::f32;

  [[nodiscard]] std::uint64_t element_bytes() const { return data::element_bytes(type); }
  [[nodiscard]] std::uint64_t padded_bytes() const {
    return std::uint64_t{padded_rows} * pitch * element_bytes();
  }
  /// Tiles 0 to this - 1 hold something.
  [[nodiscard]] std::uint32_t tiles() const {
    return static_cast<std::uint32_t>(lies.buffers.size());
  }
};

/// Rows of a matrix, wherever they lie: which places hold bytes [begin, end) of a row. What
/// lies nowhere is left out; what lies in several places is named as often.
struct Lines {
  struct Piece {
    Place place;
    std::uint32_t at;  ///< from `begin`
    std::uint32_t bytes;
  };
  using Pieces = std::vector<Piece>;
  std::function<Pieces(std::uint64_t row, std::uint64_t begin, std::uint64_t end)> pieces;
};
Lines lines_of(const Matrix& matrix);

/// Rows and columns are padded to multiples of this on a machine: what every product of that type,
/// summed in f32, takes and gives whole.
std::uint32_t padding(const MachineConfig& machine, program::Type type = program::Type::f32);

}  // namespace tessera::training
