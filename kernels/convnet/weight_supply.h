#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/convnet/array_memory.h"

/// Transfer of weights from DDR to the memory tiles.
namespace tessera::convnet {

/// Weights of an addition or a mean, shared by all blocks; for an addition tap 0 is its operand
/// `first`, tap 1 the other.
std::vector<std::byte> lone_weights(const Layer& layer, std::uint32_t first = 0);

/// Each row of cores has a list of pieces of weight tiles over all layers, in order of use. Its
/// memory tile has room for two pieces, so that one loads while the previous one is sent.
class WeightSupply {
 public:
  /// Adds the buffer of all weight tiles.
  WeightSupply(const Plan& plan, const ArrayMemory& memory, program::Program& program,
               ArrayProgram& lists);

  /// The range of a layer's pieces in its row's list.
  [[nodiscard]] Range pieces(std::uint32_t layer, std::uint32_t row) const {
    return pieces_[layer][row];
  }
  /// Place of piece `number` in its memory tile.
  [[nodiscard]] Place place(std::uint32_t row, std::uint32_t number) const;
  /// Starts the load of the row's next piece, if any; without weights ahead, only of this layer.
  void ask(std::uint32_t row, std::uint32_t layer);
  /// Waits for the requested piece.
  void wait(std::uint32_t row);

 private:
  struct Piece {
    std::uint32_t layer, offset, bytes;  ///< offset in DDR
  };
  struct Chain {
    std::vector<Piece> pieces;
    std::uint32_t asked = 0;
    TransferId coming{};  ///< the last requested transfer
  };
  /// Weights that a core holds at a time: those of output blocks of a layer, for one part of their
  /// kept input blocks. Bytes: weights [output block][kept block][tap][inputs][outputs], biases
  /// [output block] of kBiasBlockBytes, numbers of the kept blocks [output block][kept] in u16.
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
  std::vector<std::vector<std::uint32_t>> tiles_;  ///< by layer and row: offsets in DDR
};

}  // namespace tessera::convnet
