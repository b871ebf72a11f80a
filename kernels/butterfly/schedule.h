#pragma once

#include <optional>
#include <vector>

#include "kernels/butterfly/shape.h"

/// Which features lie where, and in what order factors are applied, for features split over a power
/// of two of tiles.
namespace tessera::butterfly {

/// The feature bits that the bits of a row's number on its tile and of the tile's number stand for,
/// lowest first.
struct Rows {
  std::vector<std::uint32_t> row_bits;
  std::vector<std::uint32_t> tile_bits;

  [[nodiscard]] std::uint32_t count() const { return 1U << row_bits.size(); }
  [[nodiscard]] std::uint32_t feature(std::uint32_t tile, std::uint32_t row) const;
  struct Holder {
    std::uint32_t tile, row;
  };
  /// The tile of those that split features, and the row there.
  [[nodiscard]] Holder holder(std::uint32_t feature) const;
  /// The place of `bit` among those of rows, if it is there.
  [[nodiscard]] std::optional<std::uint32_t> place(std::uint32_t bit) const;
};

/// Tiles give each other rows: the top `bits` of the row's number change places with as many of the
/// tile's, from `tile_place` on.
struct Swap {
  std::uint32_t bits = 0;
  std::uint32_t tile_place = 0;
};

/// One or two factors applied together to the rows of a tile.
struct RowPass {
  std::vector<std::uint32_t> stages;  ///< in the order in which they are applied
  Rows rows;
  std::optional<Swap> before;  ///< the exchange that brings the rows there

  /// Bits of a row's number that the stages join, of the first and of the last.
  [[nodiscard]] std::uint32_t first_place(const Problem& problem) const;
  [[nodiscard]] std::uint32_t last_place(const Problem& problem) const;
  [[nodiscard]] std::uint32_t groups() const { return rows.count() >> stages.size(); }
  /// The row of leg 0 of a group.
  [[nodiscard]] std::uint32_t first_row(const Problem& problem, std::uint32_t group) const;
};

/// Factors 0, 1, ... or, `backward`, the last one first; at most `fused` at a time; `tiles` that
/// split the features, a power of two and at most half of them.
std::vector<RowPass> schedule(const Problem& problem, std::uint32_t tiles, std::uint32_t fused,
                              bool backward);

}  // namespace tessera::butterfly
