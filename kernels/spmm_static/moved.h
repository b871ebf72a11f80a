#pragma once

#include "kernels/sparse/plan/traffic.h"
#include "kernels/spmm_static/reduction.h"

/// Bytes that each exchange of a product moves, by tile.
namespace tessera::spmm_static {

/// Dense rows and, where tiles share them, `values` into tiles, each sent once from where it is
/// given.
sparse::Traffic inputs_moved(const Partition& partition, bool values = true);

/// Partial rows to where they are added up, or results as they are to where they are wanted.
sparse::Traffic partials_moved(const Partition& partition, const Reduction& reduction);

/// Sums that are made elsewhere to where they are wanted.
sparse::Traffic sums_moved(const Partition& partition, const Reduction& reduction);

/// All tiles give and take what they hold of X or Y.
sparse::Traffic rows_moved(const Partition& partition, const EvenStorage& storage);

}  // namespace tessera::spmm_static
