#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "kernels/sparse/code/shape.h"
#include "kernels/sparse/operand/block_matrix.h"
#include "sim/data/dense_operand.h"
#include "sim/plan/description.h"

/// Layouts of matrices, for arrays and for tensors: dense ones in chunks of rows, and W.
namespace tessera::sparse {

/// Elements of a rectangle of a matrix, stored in chunks of `depth` rows.
struct Chunked {
  Interval elements;         ///< elements of a tile, numbered in this order
  std::uint32_t depth;       ///< rows of a chunk
  std::uint64_t columns;     ///< columns of the rectangle
  Interval rows;             ///< rows of the matrix; elements beyond the last are zero
  std::uint64_t column = 0;  ///< first column of the rectangle in the matrix
  std::uint64_t width = 0;   ///< columns of the matrix

  struct Element {
    std::uint64_t row, column;
  };
  [[nodiscard]] Element element(std::uint64_t number) const {
    const std::uint64_t position = number / depth;
    return {position / columns * depth + number % depth, position % columns};
  }
};

/// The part on `tile` of a matrix with `columns` columns, stored evenly over all tiles in chunks of
/// `depth` rows (1: by rows); elements have `bytes` bytes.
inline Chunked chunks_on(const EvenStorage& storage, std::uint64_t tile, std::uint32_t bytes,
                         std::uint32_t depth, std::uint64_t columns) {
  return {{storage.begin(tile) / bytes, storage.begin(tile + 1) / bytes},
          depth,
          columns,
          {0, storage.bytes()},
          0,
          columns};
}

/// Writes elements of `operand` to a tile's storage: those of `part` from number `first` on.
void fill_chunks(Type type, const data::DenseOperand& operand, const Chunked& part,
                 std::uint64_t first, std::span<std::byte> into);

/// Tensor::runs of a matrix of rows x columns whose parts are stored in chunks of rows, as given by
/// `chunks`; elements outside the matrix are padding.
std::function<void(std::size_t part, program::Runs& runs)> runs_of(
    std::uint64_t rows, std::uint64_t columns, std::function<Chunked(std::size_t part)> chunks);

/// Declares NAME.indices (the block column of each block) and NAME.indptr (the start of each block
/// row): with NAME.data [blocks, side, side] the arguments of scipy.sparse.bsr_matrix. `like` has
/// the name and everything but the shapes; `matrix` must outlive the description.
void add_pattern(plan::Description& description, const program::Tensor& like,
                 const BlockMatrix& matrix);
/// Declares the same tensors with the values of `matrix`, as given by the host.
void add_given(plan::Description& description, const program::Tensor& like,
               const BlockMatrix& matrix);

}  // namespace tessera::sparse
