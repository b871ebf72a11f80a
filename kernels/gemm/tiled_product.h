#pragma once

#include "kernels/gemm/product_calls.h"
#include "kernels/gemm/vector_product.h"
#include "sim/plan/search.h"

/// Products of types with vectors on tiles that exchange with each other. A tile has one tile of C;
/// its panels of A and its columns of B come step by step, one superstep each, multicast to all who
/// need them. Workers of a tile share its patches. The depth may be parted among several tiles,
/// which add up their sums at last, each of its share of C.
namespace tessera::gemm {

/// The search of vector_plan(): numbers of parts of m and n, and of steps.
Searched search_tiles(const VectorPlan& pinned, const Product& product, const VectorType& type,
                      MachineCosts& costs, const KeptBlocks* blocks);

/// Workers side by side along the rows of a tile of C: so that the fullest has fewest patches.
std::uint32_t rows_of_workers(std::uint32_t parts, std::uint32_t patches, std::uint32_t contexts);

/// A and B are held by all tiles evenly, in the order in which tile code reads them: A by panels of
/// a patch's rows, B by those of a patch's columns or, of kept blocks, by tiles. C stays where it
/// is made.
plan::Described describe_tiles(const VectorProduct& of, const MachineConfig& machine);

}  // namespace tessera::gemm
