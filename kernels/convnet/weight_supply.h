#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/convnet/array_memory.h"

/// Weights on their way from DDR to the memory tiles.
namespace tessera::convnet {

/// Weights of an addition or a mean, which all blocks share; of an addition tap 0 is its operand
/// `first`, tap 1 the other.
std::vector<std::byte> lone_weights(const Layer& layer, std::uint32_t first = 0);

/// Each row of cores has a list of pieces of tiles of weights over all layers, in the order in
/// which it takes them. Its memory tile has room for two, so that one comes while the one before is
/// sent.
class WeightSupply {
 public:
  /// Adds the weights' buffer, tile after tile.
  WeightSupply(const Plan& plan, const ArrayMemory& memory, program::Program& program,
               ArrayProgram& lists);

  /// A layer's pieces in its row's list.
  [[nodiscard]] Range pieces(std::uint32_t layer, std::uint32_t row) const {
    return pieces_[layer][row];
  }
  /// Where a piece of that number lies in its memory tile.
  [[nodiscard]] Place place(std::uint32_t row, std::uint32_t number) const;
  /// Begins to bring the row's next piece, if there is one more; without weights ahead, one of this
  /// layer.
  void ask(std::uint32_t row, std::uint32_t layer);
  /// Waits for the piece that was asked for.
  void wait(std::uint32_t row);

 private:
  struct Piece {
    std::uint32_t layer, offset, bytes;  ///< offset in DDR
  };
  struct Chain {
    std::vector<Piece> pieces;
    std::uint32_t asked = 0;
    TransferId coming{};  ///< the last that was asked for
  };
  /// Weights that a core holds at a time: those of output blocks of a layer, of one of the parts of
  /// their kept input blocks. Bytes: weights [output block][kept block][tap][inputs][outputs],
  /// biases [output block] of kBiasBlockBytes, numbers of the kept blocks [output block][kept] in
  /// u16.
  struct WeightTile {
    std::uint32_t layer;
    Range blocks;
    std::uint32_t part, offset, bytes;  ///< offset in DDR
  };
  static void write(const Plan& plan, const WeightTile& tile, std::span<std::byte> into);
  std::uint32_t add_tiles(std::uint32_t layer, std::uint32_t begin,
                          std::vector<WeightTile>& contents);

  const Plan& plan_;
  const ArrayMemory& memory_;
  ArrayProgram& lists_;
  program::BufferId weights_{};
  std::vector<Chain> chains_;                      ///< by row
  std::vector<std::vector<Range>> pieces_;         ///< by layer and row
  std::vector<std::vector<std::uint32_t>> tiles_;  ///< the same: where they lie in DDR
};

}  // namespace tessera::convnet
