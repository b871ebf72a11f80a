#pragma once

#include <optional>
#include <vector>

#include "kernels/butterfly/shape.h"

/// Placement of features, and the order in which factors are applied, for features split over a
/// power of two of tiles.
namespace tessera::butterfly {

/// The feature bits represented by the bits of a row's number on its tile and of the tile's number,
/// lowest first.
struct Rows {
  std::vector<std::uint32_t> row_bits;
  std::vector<std::uint32_t> tile_bits;

  [[nodiscard]] std::uint32_t count() const { return 1U << row_bits.size(); }
  [[nodiscard]] std::uint32_t feature(std::uint32_t tile, std::uint32_t row) const;
  struct Holder {
    std::uint32_t tile, row;
  };
  /// The tile that holds a feature, among those that split the features, and its row there.
  [[nodiscard]] Holder holder(std::uint32_t feature) const;
  /// The position of `bit` among the row bits, if it is there.
  [[nodiscard]] std::optional<std::uint32_t> place(std::uint32_t bit) const;
};

/// An exchange of rows between tiles: the top `bits` bits of the row number trade places with as
/// many bits of the tile number, from `tile_place` on.
struct Swap {
  std::uint32_t bits = 0;
  std::uint32_t tile_place = 0;
};

/// One or two factors applied together to the rows of a tile.
struct RowPass {
  std::vector<std::uint32_t> stages;  ///< in order of application
  Rows rows;
  std::optional<Swap> before;  ///< the exchange before it

  /// Bits of the row number that the first and last stage combine.
  [[nodiscard]] std::uint32_t first_place(const Problem& problem) const;
  [[nodiscard]] std::uint32_t last_place(const Problem& problem) const;
  [[nodiscard]] std::uint32_t groups() const { return rows.count() >> stages.size(); }
  /// Row of leg 0 of a group.
  [[nodiscard]] std::uint32_t first_row(const Problem& problem, std::uint32_t group) const;
};

/// Schedule of factors 0, 1, ... or, if `backward`, from the last; at most `fused` at a time.
/// `tiles` is the number of tiles that split the features: a power of two, at most half of the
/// features.
std::vector<RowPass> schedule(const Problem& problem, std::uint32_t tiles, std::uint32_t fused,
                              bool backward);

}  // namespace tessera::butterfly
