#pragma once

#include "kernels/spmm_dynamic/cells.h"

/// The steps of every product, in their order. All append to the program that is put together.
namespace tessera::spmm_dynamic {

/// Layout natural: makes of rows of X (and Yg) what tiles hold before the run in layout blocked.
void add_rows_in(Work& work);
/// Layout natural: brings results to the rows where they are wanted.
void add_rows_out(Work& work);

/// Buckets to the z tiles of their partition, rows of X (of Yg) to those that need them.
void add_distribution(Work& work);

/// What is for tile `one` in the pool that it holds in buffer `side`, of `meta` bytes of lists.
program::Vertex product(sparse::Assembly& assembly, const PoolShape& pool, std::uint32_t meta,
                        const Cell& one, int side);
program::Vertex zeroing(sparse::Assembly& assembly, TileId tile, Place from, std::uint64_t bytes);

/// Every tile clears its partial results.
program::ComputeSet zeros(Work& work, const std::string& name);
/// Every tile computes what is for it in the pool that it holds in buffer `side`.
program::ComputeSet products(Work& work, const std::string& name, int side);

/// What spilled into other partitions' pools: the loops that let the pools travel along y and along
/// x as long as tiles' flags say so, and compute what is for the tiles where they are. Pools travel
/// in pairs of steps, so that they end in buffer 0. Gradients go home again, the way they came.
void add_propagation(Work& work);

/// Partial results become results: they are sent to those who add them up, added and packed.
void add_sums(Work& work);

}  // namespace tessera::spmm_dynamic
