#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernels/butterfly/geometry.h"
#include "sim/base/errors.h"
#include "sim/data/dense_operand.h"
#include "sim/data/element.h"
#include "sim/plan/description.h"

/// Storage of operands in layout blocked: one copy, in equal contiguous parts over all tiles of the
/// machine.
namespace tessera::butterfly {

using plan::Tile;

/// X or Y of a round: by feature, then by column unit; blocks by line.
class StoredRows {
 public:
  StoredRows(const Geometry& round, std::uint32_t tiles);

  [[nodiscard]] const EvenStorage& storage() const { return storage_; }
  /// Bytes of a line.
  [[nodiscard]] std::uint64_t pitch() const { return units_ * unit_bytes_; }

  /// Bytes [begin, end) of the storage, and their offset on a tile.
  struct Line {
    std::uint64_t begin, end, at;
  };
  [[nodiscard]] std::vector<Line> lines_of(std::uint32_t tile, const Rows& rows) const;
  /// Bytes of a tile's rows from `begin` on, and their offset in a stored part.
  struct Part {
    std::uint32_t tile;
    std::uint64_t begin, at, bytes;
  };
  /// The pieces of tile `tile`'s stored part, each from a tile whose rows are `rows`.
  [[nodiscard]] std::vector<Part> parts_on(std::uint32_t tile, const Rows& rows) const;

  /// Calls take(feature, column, at), as Problem::for_line(), for the values of whole units from
  /// byte `first` on.
  template <class Take>
  void for_numbers(std::uint64_t first, std::size_t numbers, const Take& take) const {
    const Problem& problem = geometry_.problem;
    const std::uint64_t of_unit = unit_bytes_ / data::element_bytes(problem.type());
    const std::uint64_t before = geometry_.round_units().begin;
    check(numbers % of_unit == 0, "butterfly: {} numbers in units of {}", numbers, of_unit);
    std::uint64_t unit = first / unit_bytes_;
    for (std::size_t at = 0; at < numbers;) {
      const std::uint64_t begin = unit % units_;
      const std::uint64_t end = std::min(units_, begin + (numbers - at) / of_unit);
      problem.for_line(unit / units_, {before + begin, before + end}, at, take);
      unit += end - begin;
    }
  }

  void fill(const data::DenseOperand& values, std::uint64_t first, std::span<std::byte> into) const;

 private:
  Geometry geometry_;
  std::uint64_t units_;       ///< units of a line
  std::uint64_t unit_bytes_;  ///< bytes of a unit of a line
  EvenStorage storage_;
};

/// Twiddles of a pass: by part of the features, then by group.
struct StoredTwiddles {
  std::uint64_t groups, group_bytes, part_bytes;
  EvenStorage storage;

  StoredTwiddles(const Geometry& geometry, const RowPass& pass, std::uint64_t part_bytes,
                 std::uint32_t tiles);
  /// Writes whole groups from byte `first` on; `write` writes those of one part.
  void fill(const std::function<void(std::uint32_t part, Interval, std::span<std::byte>)>& write,
            std::uint64_t first, std::span<std::byte> into) const;
};

/// Tensor of Y or Xg of all columns, as the last pass leaves it.
plan::TensorOver result_in_rows(const Geometry& geometry, const Rows& rows,
                                program::BufferId array);
/// Tensor of a round's stored result.
plan::TensorOver result_in_store(const Geometry& round, const StoredRows& stored,
                                 program::BufferId array);
/// Tensor of all twiddle gradients in f32, by share.
plan::TensorOver gradient_in_shares(const Geometry& geometry, program::BufferId array);

}  // namespace tessera::butterfly
