#pragma once

#include "kernels/spmm_dynamic/cells.h"
#include "kernels/spmm_dynamic/plan.h"

/// Layout natural: X and Yg are given and Y is wanted by rows, in equal parts on the tiles in
/// order. Each tile makes of rows what it holds in layout blocked, and rows of what it adds up,
/// with the transposition of spmm_static.
namespace tessera::spmm_dynamic {

/// Appends the steps that fill the slices of X (and Yg) from rows.
void add_rows_in(program::Program& program, const Problem& problem, const PoolShape& pool,
                 const Cells& cells, bool measured);

/// Appends the steps that bring results to the rows where they are wanted.
void add_rows_out(program::Program& program, const Problem& problem, const PoolShape& pool,
                  const Cells& cells, bool measured);

/// Predicted slots of a worker that transposes words [0, words) of a piece with rows of `columns`
/// elements in chunks of `depth`.
std::uint64_t predicted_transposing_slots(const PoolShape& pool, std::uint64_t words,
                                          std::uint32_t depth);

}  // namespace tessera::spmm_dynamic
