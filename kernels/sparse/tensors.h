#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "kernels/sparse/code/shape.h"
#include "kernels/sparse/operand/block_matrix.h"
#include "sim/data/dense_operand.h"
#include "sim/plan/description.h"

/// Which element of a matrix lies where: of dense ones in chunks of rows, as arrays hold them and
/// as tensors, and of W.
namespace tessera::sparse {

/// Elements of a rectangle of a matrix, in chunks of `depth` rows.
struct Chunked {
  Interval elements;         ///< elements that a tile holds, numbered in that order
  std::uint32_t depth;       ///< rows of a chunk
  std::uint64_t columns;     ///< columns of the rectangle
  Interval rows;             ///< rows of the matrix; elements behind the last are zero
  std::uint64_t column = 0;  ///< the first of the rectangle in the matrix
  std::uint64_t width = 0;   ///< columns of the matrix

  struct Element {
    std::uint64_t row, column;
  };
  [[nodiscard]] Element element(std::uint64_t number) const {
    const std::uint64_t position = number / depth;
    return {position / columns * depth + number % depth, position % columns};
  }
};

/// The part on `tile` of a matrix of so many columns that all tiles hold evenly, in chunks of
/// `depth` rows (1: by rows) of elements of `bytes`.
inline Chunked chunks_on(const EvenStorage& storage, std::uint64_t tile, std::uint32_t bytes,
                         std::uint32_t depth, std::uint64_t columns) {
  return {{storage.begin(tile) / bytes, storage.begin(tile + 1) / bytes},
          depth,
          columns,
          {0, storage.bytes()},
          0,
          columns};
}

/// Writes elements of `operand` into what a tile holds: those of `part` from its number `first` on.
void fill_chunks(Type type, const data::DenseOperand& operand, const Chunked& part,
                 std::uint64_t first, std::span<std::byte> into);

/// Tensor::runs of a matrix of so many rows and columns, of which each part lies in chunks of rows:
/// `chunks` says what it has. What lies behind the matrix is padding.
std::function<void(std::size_t part, program::Runs& runs)> runs_of(
    std::uint64_t rows, std::uint64_t columns, std::function<Chunked(std::size_t part)> chunks);

/// Declares NAME.indices, the block column of each block, and NAME.indptr, where each block row's
/// begin: with NAME.data [blocks, side, side] what scipy.sparse.bsr_matrix takes. `like` has the
/// name and all but their shapes; `matrix` outlives the description.
void add_pattern(plan::Description& description, const program::Tensor& like,
                 const BlockMatrix& matrix);
/// Declares the same with the values of `matrix`, as the host gives them.
void add_given(plan::Description& description, const program::Tensor& like,
               const BlockMatrix& matrix);

}  // namespace tessera::sparse
