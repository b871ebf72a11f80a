#pragma once

#include <algorithm>
#include <cstdint>

namespace tessera::fabric {

/// Positions of tiles on the chip: the pair of tiles 2p and 2p + 1 is in column p mod `columns`,
/// row p / `columns`.
struct Floorplan {
  std::uint32_t columns = 1;
  std::uint32_t column_um = 0;  ///< between neighbouring columns; both pitches 0: not known
  std::uint32_t row_um = 0;

  [[nodiscard]] bool known() const { return column_um != 0 || row_um != 0; }
  /// Columns and rows between two tiles.
  [[nodiscard]] std::uint32_t hops(std::uint32_t a, std::uint32_t b) const {
    return columns_apart(a, b) + rows_apart(a, b);
  }
  /// Micrometres between two tiles along columns and rows.
  [[nodiscard]] std::uint32_t distance_um(std::uint32_t a, std::uint32_t b) const {
    return columns_apart(a, b) * column_um + rows_apart(a, b) * row_um;
  }

 private:
  static std::uint32_t apart(std::uint32_t x, std::uint32_t y) {
    return std::max(x, y) - std::min(x, y);
  }
  [[nodiscard]] std::uint32_t columns_apart(std::uint32_t a, std::uint32_t b) const {
    return apart(a / 2 % columns, b / 2 % columns);
  }
  [[nodiscard]] std::uint32_t rows_apart(std::uint32_t a, std::uint32_t b) const {
    return apart(a / 2 / columns, b / 2 / columns);
  }
};

}  // namespace tessera::fabric
