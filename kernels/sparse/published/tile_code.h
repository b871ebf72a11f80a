#pragma once

#include <cstdint>

#include "kernels/sparse/code/shape.h"

/// What the published planner expects of its own tile code (poplibs
/// lib/popsparse/StaticMatMulPartitioner.cpp; machines.md 2.1, 2.2, 2.6, 2.8): cycles of one tile
/// with `workers` workers. Part of that planner's choice of cuts; what our code takes the machine
/// is asked.
namespace tessera::sparse::published {

/// `rows` block rows of `blocks` blocks each times `width` columns: of one worker where blocks are
/// single elements (workers divide rows), else of the tile (workers divide columns).
std::uint64_t product_cycles(const Shape& shape, std::uint64_t rows, std::uint64_t blocks,
                             std::uint64_t width, std::uint32_t workers);

/// Clearing so many bytes of partial rows; nothing where the product does it.
std::uint64_t zeroing_cycles(const Shape& shape, std::uint64_t bytes, std::uint32_t workers);

/// `results` results of `partials` partials each.
std::uint64_t adding_cycles(const Shape& shape, std::uint64_t results, std::uint64_t partials,
                            std::uint32_t workers);

}  // namespace tessera::sparse::published
