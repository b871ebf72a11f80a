#pragma once

#include <string>
#include <vector>

#include "kernels/gemm/plan.h"
#include "kernels/training/matrix.h"

namespace tessera::training {

/// A dense product with its plan, sizes padded.
struct PlannedProduct {
  gemm::Product size;
  gemm::Candidate candidate;
  gemm::Geometry geometry;
};

/// What a product is for, in words of the config that asks for it.
struct ProductUse {
  std::string key;   ///< "workload.layers[1]"
  std::string what;  ///< "the product that makes its outputs"
};

/// Plans the products of a program, each size once: of one type, summed in f32, by rows, on tiles
/// of which `reserved` bytes are taken. What fits no tile is a UserError that says what it is for.
class ProductPlanner {
 public:
  ProductPlanner(MachineCosts& costs, std::uint64_t reserved,
                 program::Type type = program::Type::f32)
      : costs_(costs), reserved_(reserved), type_(type) {}

  /// [m, k] times [k, n].
  PlannedProduct plan(std::uint32_t m, std::uint32_t k, std::uint32_t n, const ProductUse& use);

 private:
  MachineCosts& costs_;
  std::uint64_t reserved_;
  program::Type type_;
  std::vector<PlannedProduct> known_;
};

/// What a matrix of this size takes of the fullest tile.
std::uint64_t matrix_bytes(std::uint32_t rows, std::uint32_t columns, const MachineConfig& machine,
                           program::Type type = program::Type::f32);

}  // namespace tessera::training
