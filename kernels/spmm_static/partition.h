#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/spmm_static/layer.h"
#include "kernels/spmm_static/lone_adding.h"
#include "kernels/spmm_static/shape.h"

/// How Y[m,n] = W[m,k] X[k,n] is cut over tiles: columns of X and Y in intervals, a layer of tiles
/// each.
namespace tessera::spmm_static {

/// An interval of columns and the tiles that compute it.
struct Part {
  std::uint32_t begin;  ///< columns
  std::uint32_t end;
  std::uint32_t first_tile;
  std::uint32_t layer;  ///< index in Partition::layers

  [[nodiscard]] std::uint32_t width() const { return end - begin; }
};

struct Partition {
  Shape shape;
  std::uint32_t block_rows = 0;     ///< of W
  std::uint32_t block_columns = 0;  ///< of W
  std::uint32_t columns = 0;        ///< of X and Y with padding
  std::uint32_t tiles = 0;          ///< of the machine
  Deal deal;
  std::vector<Layer> layers;
  std::vector<Part> parts;
  std::optional<LoneAdding> lone_adding = std::nullopt;  ///< else partial rows are added at home

  [[nodiscard]] const Layer& layer(const Part& part) const { return layers[part.layer]; }
  /// Elements of X and Y as they are given and wanted, and of what each tile then holds.
  [[nodiscard]] std::uint64_t x_elements() const {
    return std::uint64_t{block_columns} * shape.block * columns;
  }
  [[nodiscard]] std::uint64_t y_elements() const {
    return std::uint64_t{block_rows} * shape.block * columns;
  }
  [[nodiscard]] std::uint64_t x_stored() const { return stored(x_elements()); }
  [[nodiscard]] std::uint64_t y_stored() const { return stored(y_elements()); }
  /// Elements of Y that a tile is to hold.
  [[nodiscard]] std::uint64_t y_wanted(std::uint64_t tile) const {
    return std::min(y_stored(), y_elements() - std::min(y_elements(), tile * y_stored()));
  }
  [[nodiscard]] std::uint64_t values() const { return deal.value_begin.back(); }
  /// Values of W that each tile holds before the run where tiles share them.
  [[nodiscard]] std::uint64_t values_stored() const {
    return round_up(ceil_div<std::uint64_t>(values(), tiles), std::uint64_t{8});
  }
  /// Bytes of a tile of `part`: X that `share` needs, values of W, partial rows.
  [[nodiscard]] std::uint64_t x_bytes(const Part& part, const Share& share) const;
  [[nodiscard]] std::uint64_t value_bytes(const Share& share) const;
  [[nodiscard]] std::uint64_t row_bytes(const Part& part) const;  ///< of one partial block row
  [[nodiscard]] bool shares_values() const { return parts.size() > 1; }

 private:
  [[nodiscard]] std::uint64_t stored(std::uint64_t elements) const {
    const std::uint64_t grain = shape.dealt_grain();
    return ceil_div(ceil_div(elements, grain), std::uint64_t{tiles}) * grain;
  }
};

/// Tiles of an interval come in pairs, as neighbours share an input bus, where the machine has an
/// even number of them.
constexpr std::uint32_t tile_grain(std::uint32_t tiles) { return tiles % 2 == 0 ? 2 : 1; }

/// Up to `wanted` equal intervals of `columns` with tiles in proportion, as published where blocks
/// are dealt so; `layer` is their number of tiles. Empty if an interval has no tiles.
std::vector<Part> cut_columns(std::uint32_t columns, std::uint32_t wanted, std::uint32_t grain,
                              std::uint32_t tiles, Dealing dealing);

/// How a product is cut.
struct Cuts {
  std::uint32_t parts;  ///< intervals of columns of X
  std::uint32_t bands;  ///< of block columns of W
  Dealing dealing = Dealing::blocks;

  friend auto operator<=>(const Cuts&, const Cuts&) = default;
};

/// The partition into up to so many intervals and bands; without parts if they do not go onto the
/// tiles.
Partition make_partition(const sparse::BlockMatrix& w, const Shape& shape, std::uint32_t n,
                         std::uint32_t tiles, const Cuts& cuts);

}  // namespace tessera::spmm_static
