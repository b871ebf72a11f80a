#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernels/butterfly/geometry.h"
#include "sim/data/dense_operand.h"
#include "sim/plan/description.h"

/// Where operands lie in layout blocked: once, in equal stretches on all tiles of the machine.
namespace tessera::butterfly {

using kernels::EvenStorage;

/// X or Y of a round: feature after feature, of each all units of columns; of blocks line after
/// line.
class StoredRows {
 public:
  StoredRows(const Geometry& round, std::uint32_t tiles);

  [[nodiscard]] const EvenStorage& storage() const { return storage_; }
  /// Bytes of a line.
  [[nodiscard]] std::uint64_t pitch() const { return units_ * unit_bytes_; }

  /// Bytes [begin, end) of the storage, and where they are among a tile's.
  struct Line {
    std::uint64_t begin, end, at;
  };
  /// The lines of tile `tile`, whose rows are `rows`.
  [[nodiscard]] std::vector<Line> lines_of(std::uint32_t tile, const Rows& rows) const;
  /// Bytes of a tile's rows from `begin` on, and where they are in a stretch.
  struct Part {
    std::uint32_t tile;
    std::uint64_t begin, at, bytes;
  };
  /// What the stretch of tile `tile` consists of, of tiles whose rows are `rows`.
  [[nodiscard]] std::vector<Part> parts_on(std::uint32_t tile, const Rows& rows) const;

  /// Calls take(feature, column, at) for the numbers from byte `first` on, `at` counting them.
  /// Columns are those of an operand: of complex numbers two each. What is padding is left out.
  template <class Take>
  void for_numbers(std::uint64_t first, std::size_t numbers, const Take& take) const;

  void fill(const data::DenseOperand& values, std::uint64_t first, std::span<std::byte> into) const;

 private:
  Geometry geometry_;
  std::uint64_t units_;       ///< of a line
  std::uint64_t unit_bytes_;  ///< of a unit in it
  EvenStorage storage_;
};

template <class Take>
void StoredRows::for_numbers(std::uint64_t first, std::size_t numbers, const Take& take) const {
  const Problem& p = geometry_.problem;
  const std::uint64_t size = p.dtype == Number::f16 ? 2 : 4;
  const std::uint64_t of_unit = unit_bytes_ / size;
  const std::uint64_t of_line = units_ * of_unit;
  const std::uint64_t columns = p.unit_columns();
  const std::uint64_t parts = p.is_complex() ? 2 : 1;
  std::uint64_t line = first / size / of_line;
  std::uint64_t unit = first / size % of_line / of_unit;
  std::uint64_t in_unit = first / size % of_unit;
  for (std::size_t at = 0; at < numbers; ++at) {
    const std::uint64_t depth = p.blocked() ? p.shape.depth : 1;
    const std::uint64_t inner = p.blocked() ? line % p.lines() * depth + in_unit % depth : 0;
    const std::uint64_t column = (geometry_.round_units().begin + unit) * columns +
                                 (p.blocked() ? in_unit / depth : in_unit % columns);
    const std::uint64_t part = p.blocked() ? 0 : in_unit / columns % parts;
    if (inner < p.block && column < p.n)
      take(line / p.lines() * p.block + inner, column * parts + part, at);
    if (++in_unit < of_unit) continue;
    in_unit = 0;
    if (++unit < units_) continue;
    unit = 0;
    ++line;
  }
}

/// Twiddles of a pass: group after group of each part of the features.
struct StoredTwiddles {
  std::uint64_t groups, group_bytes, part_bytes;
  EvenStorage storage;

  StoredTwiddles(const Geometry& geometry, const RowPass& pass, std::uint64_t part_bytes,
                 std::uint32_t tiles);
  /// Writes whole groups from byte `first` on; `write` those of one part.
  void fill(const std::function<void(std::uint32_t part, Interval, std::span<std::byte>)>& write,
            std::uint64_t first, std::span<std::byte> into) const;
};

/// Y or Xg of all columns where the last pass leaves it.
plan::TensorOver result_in_rows(const Geometry& geometry, const Rows& rows,
                                program::BufferId array);
/// Of a round where it is stored.
plan::TensorOver result_in_store(const Geometry& round, const StoredRows& stored,
                                 program::BufferId array);
/// Of every twiddle, in f32, in shares.
plan::TensorOver gradient_in_shares(const Geometry& geometry, program::BufferId array);

}  // namespace tessera::butterfly
