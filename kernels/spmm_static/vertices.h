#pragma once

#include <vector>

#include "kernels/sparse/code/statement.h"
#include "kernels/spmm_static/reduction.h"

/// Calls of the tile code of products on one tile, and the functions that their times are measured
/// on.
namespace tessera::spmm_static {

using plan::Tile;
using program::BufferId;
using program::Place;
using sparse::Codelet;
using sparse::Statement;

/// What a tile multiplies.
struct ProductPlaces {
  Place values, x, list, partials;
};

Codelet block_codelet(const Statement& statement, const Shape& shape);
/// The blocks of `rows` block rows times `width` columns.
program::Vertex block_product(Codelet code, const Shape& shape, const ProductPlaces& places,
                              std::uint32_t rows, std::uint32_t width);
/// Sizes: block rows, further blocks of the last one (one more), loops of positions.
plan::Function block_function(const Statement& statement, const Shape& shape);

/// A worker's rows and passes, and what lies before them in the list and in the values.
struct ElementPart {
  std::uint32_t list, values;  ///< u16, elements
  sparse::WorkerRows share;
};
Codelet element_codelet(const Statement& statement, const Shape& shape, std::uint32_t words);
/// Single elements times passes of `words` 64-bit words of a row of `width` columns.
program::Vertex element_product(Codelet code, const Shape& shape, const ProductPlaces& places,
                                std::uint32_t width, std::uint32_t words,
                                const std::vector<ElementPart>& workers);
/// Sizes: busy workers, rows of each, nonzeros of a row (one more), passes. Each is measured but
/// the third.
plan::Function element_function(const Statement& statement, const Shape& shape,
                                std::uint32_t words);

Codelet adding_codelet(const Statement& statement, const Shape& shape);
/// Adds up what workers' segments say; `segments` holds them, worker after worker.
program::Vertex adding(Codelet code, Place received, Place results, Place segments,
                       const std::vector<ReducingWorker>& workers);
std::vector<SegmentPart> segment_list(const std::vector<ReducingWorker>& workers);
/// Sizes: chunks of results of a worker, partials of each (one more).
plan::Function adding_function(const Statement& statement, const Shape& shape);

}  // namespace tessera::spmm_static
