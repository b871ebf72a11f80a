#pragma once

#include <cstdint>
#include <vector>

#include "kernels/spmm_static/partition.h"

/// Layout natural: X is given and Y wanted by rows, dealt equally to all tiles in order. Each tile
/// turns its part of X from rows into the order in which blocks take it, and its part of Y back.
namespace tessera::spmm_static {

/// A rectangle of a matrix that one tile holds: `depth` rows (inputs of a block) from `row`,
/// columns [begin, end).
struct Panel {
  std::uint64_t row;
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t offset;  ///< elements, in what the tile holds

  [[nodiscard]] std::uint64_t width() const { return end - begin; }
};

/// The panels of a tile that holds elements [first, last) of a matrix in order [row /
/// depth][column] [row mod depth]. None is wider than strides of SquareRun reach.
std::vector<Panel> panels_of(std::uint64_t first, std::uint64_t last, std::uint64_t depth,
                             std::uint64_t columns);

/// Squares of as many rows and columns as a 64-bit word has elements, one after the other.
struct SquareRun {
  std::uint32_t in;  ///< byte offset of the first word
  std::uint32_t out;
  std::uint16_t squares;
  std::uint16_t in_stride;  ///< bytes between the words of a square
  std::uint16_t in_step;    ///< bytes to the next square
  std::uint16_t out_stride;
  std::uint16_t out_step;
  std::uint16_t padding;
};
static_assert(sizeof(SquareRun) == 20);

enum class Direction : std::uint8_t { to_blocks, to_rows };

/// The squares of panels of `depth` rows, divided over `workers`.
std::vector<std::vector<SquareRun>> transpositions(const std::vector<Panel>& panels,
                                                   std::uint64_t depth, std::uint32_t bytes,
                                                   Direction direction, std::uint32_t workers);

/// Slots of a worker of spmm_transpose_f16 or _f32, by the bytes of an element.
std::uint64_t transposing_slots(const std::vector<SquareRun>& runs, std::uint32_t bytes);

}  // namespace tessera::spmm_static
