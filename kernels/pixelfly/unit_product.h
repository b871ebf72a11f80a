#pragma once

#include "kernels/gemm/vertex_costs.h"
#include "kernels/pixelfly/sampled.h"

/// A sampled product on the matrix unit. On a tile each block row of A (or those that are weights
/// together) is weights, in the order that the unit takes, and the rows of B of all its blocks lie
/// behind each other as positions: gemm's product, with the batch as its depth.
namespace tessera::pixelfly {

/// As add_sampled(), of a plan on the unit.
void add_unit_product(sparse::Assembly& assembly, const Sampled& plan, const std::string& name,
                      const spmm_static::BuffersOfRows& a, const spmm_static::BuffersOfRows& b,
                      const std::vector<program::BufferId>& results);

/// Squares of B that a tile takes.
std::uint64_t unit_receives(const Sampled& plan, const Part& part, const Share& share);

/// Cycles of a tile's compute set.
std::uint64_t unit_product_cycles(const Sampled& plan, const Part& part, const Share& share,
                                  gemm::VertexCosts& costs);

}  // namespace tessera::pixelfly
