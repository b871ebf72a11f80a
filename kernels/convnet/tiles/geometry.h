#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/block_shape.h"
#include "kernels/convnet/network.h"
#include "kernels/layout.h"
#include "sim/plan/description.h"

/// Partition of a layer over tiles, and layout of its operands on a tile.
namespace tessera::convnet::tiles {

using kernels::BlockShape;

/// A chunk of channels of a layer's tensor.
struct Source {
  std::uint32_t layer, chunk;
};

enum class Kind : std::uint8_t {
  sums,      ///< convolution: every input chunk contributes to every output
  diagonal,  ///< depthwise convolution, add: each channel only to its own
  maxima,    ///< max_pool
  means      ///< average_pool
};

/// A layer that tiles compute. In convolutions of the image the places of a window's row become
/// channels: the host gives each tile the image in this form (`unfolded`).
struct LayerShape {
  std::uint32_t number = 0;    ///< number in its network of the layer whose tensor is computed
  std::uint32_t weighted = 0;  ///< layer with the weights; with `addend` a different one
  Kind kind = Kind::sums;
  Window window;  ///< unfolded: one column wide
  Shape input;    ///< the image if it is given; else the first operand
  Shape output;
  bool relu = false;
  bool given = false;  ///< the input is the image
  bool unfolded = false;
  std::uint32_t unfolded_columns = 1;  ///< window columns in the network
  std::uint32_t unfolded_left = 0;     ///< left padding in the network
  /// Chunks of each operand (one, for add two); with `given` only their number counts.
  std::vector<std::vector<Source>> operands;

  /// Chunks added to a convolution's sums; empty: none.
  std::vector<Source> addend;

  [[nodiscard]] bool has_sums() const { return kind == Kind::sums || kind == Kind::diagonal; }
  [[nodiscard]] std::uint32_t chunks() const {
    return static_cast<std::uint32_t>(operands.front().size());
  }
  [[nodiscard]] std::uint32_t taps() const { return window.height * window.width; }
};

/// Granularity of the partition of channels: whole chunks of inputs and whole blocks of outputs.
inline std::uint32_t group_channels(const BlockShape& block) {
  return block.depth > block.columns ? block.depth : block.columns;
}

/// The layers that tiles compute, by number; none for the image, for concatenations, and for
/// convolutions whose only user is an addition, which includes them. Throws KeyError at
/// workload.network for concatenated channels that are no multiple of a chunk.
std::vector<std::optional<LayerShape>> layer_shapes(const Network& network,
                                                    const BlockShape& block);

/// The chunks of a layer's tensor, and the layers that compute them.
std::vector<Source> chunks_of(const Network& network, std::uint32_t number,
                              const BlockShape& block);

using plan::Tile;

/// Numbers of parts of a layer's output rows, columns and channels, and of its input channels.
struct Split {
  std::uint32_t rows = 1, columns = 1, outputs = 1, inputs = 1;

  [[nodiscard]] std::uint32_t tiles() const { return rows * columns * outputs * inputs; }
  bool operator==(const Split&) const = default;
};
void describe(config::Fields& fields, Split& split);

/// A tile's part of each. Tiles with the same inputs are neighbours, in pairs if possible.
struct Cell {
  std::uint32_t row, column, output, input;
};

/// A run of positions of one worker.
using Positions = Interval;

/// Layout of slots of chunks in X, and the window that reads them: planes of the rows and columns
/// with equal remainders modulo the strides, for a number of output rows.
struct Planes {
  std::uint64_t begin;  ///< offset of the first slot
  Window window;
  Shape input;
  std::uint64_t rows, pitch;  ///< positions of a row of X
  std::uint32_t x_bytes;      ///< bytes of a position

  [[nodiscard]] std::uint32_t plane_rows() const {
    return std::min(window.stride_height, window.height);
  }
  [[nodiscard]] std::uint32_t plane_columns() const {
    return std::min(window.stride_width, window.width);
  }
  [[nodiscard]] std::uint64_t height() const {  ///< rows of a plane
    return rows + (window.height - 1) / window.stride_height;
  }
  [[nodiscard]] std::uint64_t bytes() const {  ///< bytes of a slot
    return std::uint64_t{plane_rows()} * plane_columns() * height() * pitch * x_bytes;
  }
  /// Position in a slot of the beginning of row `row` of a plane.
  [[nodiscard]] std::uint64_t line(std::uint32_t plane_row, std::uint32_t plane_column,
                                   std::uint64_t row) const {
    return ((std::uint64_t{plane_row} * plane_columns() + plane_column) * height() + row) * pitch;
  }
};

/// A tile's inputs X have the layout [slot][plane][row][column][channel of a chunk]: a slot is a
/// chunk that the tile uses, a plane holds rows and columns with equal remainders modulo the
/// strides, so that adjacent positions read adjacent inputs. Rows of X have `pitch` positions, and
/// sums Y cover them without regard to the ends of rows: positions beyond a row's last are not
/// used.
class Geometry {
 public:
  /// The layer uses consecutive tiles from `ring.first` on, in a ring of `ring.tiles`.
  struct Ring {
    Tile first = 0, tiles = 1;
  };
  Geometry(const LayerShape& shape, const BlockShape& block, const Split& split, Ring ring)
      : shape_(shape), block_(block), split_(split), ring_(ring) {}

  [[nodiscard]] const LayerShape& shape() const { return shape_; }
  [[nodiscard]] const BlockShape& block() const { return block_; }
  [[nodiscard]] const Split& split() const { return split_; }
  [[nodiscard]] Tile tiles() const { return split_.tiles(); }
  [[nodiscard]] bool works(Tile tile) const { return in_ring(tile) < tiles(); }
  [[nodiscard]] Cell cell(Tile tile) const;
  [[nodiscard]] Tile tile(const Cell& cell) const;

  // A cell's part of the results:
  [[nodiscard]] EvenSplit all_rows() const { return {shape_.output.height, split_.rows}; }
  [[nodiscard]] EvenSplit all_columns() const { return {shape_.output.width, split_.columns}; }
  /// Partition of the groups of channels (group_channels).
  [[nodiscard]] EvenSplit all_groups() const;
  [[nodiscard]] Interval rows(const Cell& cell) const { return all_rows().part(cell.row); }
  [[nodiscard]] Interval columns(const Cell& cell) const { return all_columns().part(cell.column); }
  [[nodiscard]] Interval groups(const Cell& cell) const { return all_groups().part(cell.output); }
  /// Groups that the cell finishes, of those for which it and the cells of other inputs have sums.
  [[nodiscard]] Interval share(const Cell& cell) const;
  [[nodiscard]] Cell finisher(std::uint32_t row, std::uint32_t column, std::uint64_t group) const;

  [[nodiscard]] Interval own_chunks(const Cell& cell) const {
    return {groups(cell).begin * chunks_of_group(), groups(cell).end * chunks_of_group()};
  }

  // X.
  /// The chunks of a cell's slots, by operand; numbers beyond the operand's chunks stand for zeros.
  struct Slots {
    std::uint64_t operands;
    Interval chunks;  ///< chunks of each operand
    [[nodiscard]] std::uint64_t size() const { return operands * chunks.size(); }
  };
  [[nodiscard]] Slots slots(const Cell& cell) const;
  [[nodiscard]] Planes x(const Cell& cell) const {
    return {0, shape_.window, shape_.input, rows(cell).size(), pitch(cell), block_.x_bytes()};
  }
  [[nodiscard]] std::uint64_t pitch(const Cell& cell) const {
    return columns(cell).size() + (shape_.window.width - 1) / shape_.window.stride_width;
  }
  /// True if the cell adds the addend, whose slots follow the others with rows of the same pitch;
  /// the first of the cells that share sums adds it.
  [[nodiscard]] bool adds(const Cell& cell) const {
    return !shape_.addend.empty() && cell.input == 0;
  }
  [[nodiscard]] Planes addend(const Cell& cell) const {
    return {slots(cell).size() * x(cell).bytes(),
            {},
            shape_.output,
            rows(cell).size(),
            pitch(cell),
            block_.x_bytes()};
  }
  [[nodiscard]] std::uint64_t x_bytes(const Cell& cell) const {
    const Planes behind = addend(cell);
    return behind.begin + (adds(cell) ? own_chunks(cell).size() * behind.bytes() : 0);
  }
  /// Offset in a slot of the first position's input at each place of the window, row by row.
  [[nodiscard]] std::vector<std::uint32_t> taps(const Cell& cell) const;

  // Y.
  [[nodiscard]] std::uint64_t positions(const Cell& cell) const;
  [[nodiscard]] std::uint64_t blocks(const Cell& cell) const;  ///< column blocks
  [[nodiscard]] std::uint64_t block_bytes(const Cell& cell) const {
    return positions(cell) * block_.y_bytes();
  }
  [[nodiscard]] std::uint64_t y_bytes(const Cell& cell) const {
    return blocks(cell) * block_bytes(cell);
  }
  [[nodiscard]] std::uint64_t blocks_of_group() const {
    return group_channels(block_) / block_.columns;
  }
  /// The byte range of its Y that the cell finishes.
  [[nodiscard]] Interval share_bytes(const Cell& cell) const;
  /// Runs of positions for `workers` workers: of whole rows, of parts of rows, or of all positions
  /// in order, whichever gives the shortest longest run.
  [[nodiscard]] std::vector<Positions> runs(const Cell& cell, std::uint32_t workers) const;

  /// Offsets in X of the inputs that workers read, [column block][step].
  [[nodiscard]] std::vector<std::uint32_t> offsets(const Cell& cell) const;

  // Weights, [column block][step], and results, [chunk][row][column][channel of a chunk]:
  [[nodiscard]] std::uint64_t steps(const Cell& cell) const;
  [[nodiscard]] std::uint64_t chunks_of_block() const {
    return block_.columns > block_.depth ? block_.columns / block_.depth : 1;
  }
  [[nodiscard]] std::uint64_t w_bytes(const Cell& cell) const {
    return shape_.has_sums() ? blocks(cell) * steps(cell) * block_.w_bytes() : 0;
  }
  [[nodiscard]] std::uint64_t chunks_of_group() const {
    return group_channels(block_) / block_.depth;
  }
  [[nodiscard]] std::uint64_t chunk_bytes(const Cell& cell) const {
    return rows(cell).size() * columns(cell).size() * block_.x_bytes();
  }
  [[nodiscard]] std::uint64_t result_bytes(const Cell& cell) const {
    return share(cell).size() * chunks_of_group() * chunk_bytes(cell);
  }

 private:
  [[nodiscard]] Tile in_ring(Tile tile) const {
    return (tile + ring_.tiles - ring_.first) % ring_.tiles;
  }

  LayerShape shape_;
  BlockShape block_;
  Split split_;
  Ring ring_;
};

/// Geometry by layer; null for layers that tiles do not compute.
using Geometries = std::vector<std::shared_ptr<const Geometry>>;

/// The inputs of a tile: chunks of rows on the tiles that computed them, and padding around them
/// (pulls.cpp).
struct Inputs {
  std::vector<program::BufferId> results;  ///< by layer
  program::BufferId x{};
  program::BufferId padding{};  ///< holds one row of padding of X
};

/// Adds a tile's pulls for its cell of layer `g`.
void pull_inputs(const Geometries& geometries, const Geometry& g, const Inputs& from,
                 const Cell& cell, plan::Pulls& pulls);

/// Approximate number of pulls of the fullest tile, for any split of the layers before.
std::uint64_t expected_pulls(const Geometry& g);

}  // namespace tessera::convnet::tiles
