#pragma once

#include "kernels/butterfly/storage.h"
#include "sim/plan/description.h"

/// Results by name: which of their numbers a tile's part of an array holds.
namespace tessera::butterfly {

/// Y or Xg of all columns where the last pass leaves it.
plan::TensorOver result_in_rows(const Geometry& geometry, const Rows& rows,
                                program::BufferId array);
/// Of a round where it is stored.
plan::TensorOver result_in_store(const Geometry& round, const StoredRows& stored,
                                 program::BufferId array);
/// Of every twiddle, in f32, in shares.
plan::TensorOver gradient_in_shares(const Geometry& geometry, program::BufferId array);

}  // namespace tessera::butterfly
