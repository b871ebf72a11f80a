#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/gemm/plan.h"
#include "kernels/training/statement.h"

namespace tessera::training {

/// A dense product of padded sizes, and its plan.
struct PlannedProduct {
  gemm::Product size;
  gemm::Candidate candidate;
  gemm::Geometry geometry;
};

/// Products of a layer y = x W: forward, the gradient of W if trained, and the gradient of x if the
/// layer is not the first.
struct DensePlan {
  std::uint32_t padding;  ///< padding of its matrices
  PlannedProduct forward;
  std::optional<PlannedProduct> weight_gradient, input_gradient;
};
struct PlannedLayer {
  std::optional<DensePlan> plan;
  std::string misfit = {};  ///< if there is no plan: the product that does not fit, and why
};
/// Their plans as printed and pinned.
struct DenseKeys {
  std::optional<gemm::Plan> forward, weight_gradient, input_gradient;
};
void describe(config::Fields& fields, DenseKeys& keys);
/// Describes the plan's key `padding` of matrices; 0: searched.
void describe_padding(config::Fields& fields, std::uint32_t& padding);
/// The paddings to search: the pinned one, the largest if only products are pinned, else all.
/// Throws KeyError if no block shape has the pinned size.
std::vector<std::uint32_t> paddings(const MachineConfig& machine, std::uint32_t pinned,
                                    bool pinned_products, program::Type type = program::Type::f32);
DenseKeys keys_of(const DensePlan& plan);

/// A layer as the config describes it.
struct DenseLayer {
  std::uint32_t samples, inputs, outputs;
  std::string key;  ///< "workload.layers[1]"
  bool trains, first;
  DenseKeys pinned = {};
};

/// Plans the products of a program, each size once: operands of one type, sums in f32, row-major
/// matrices padded to multiples of `padding`, and `reserved` bytes of each tile in use.
class ProductPlanner {
 public:
  ProductPlanner(MachineCosts& costs, std::uint64_t reserved, std::uint32_t padding,
                 program::Type type = program::Type::f32)
      : costs_(costs), reserved_(reserved), padding_(padding), type_(type) {}

  [[nodiscard]] PlannedLayer plan(const DenseLayer& layer);

 private:
  /// A product's purpose in the config's words, for errors, and its pinned plan if any.
  struct Use {
    std::string key, what;
    const std::optional<gemm::Plan>& pinned;
  };
  /// Plans [m, k] times [k, n]; nullopt once `misfit` is set.
  std::optional<PlannedProduct> product(std::uint32_t m, std::uint32_t k, std::uint32_t n,
                                        const Use& use, std::string& misfit);
  [[nodiscard]] gemm::Candidate candidate(const gemm::Problem& problem, const Use& use) const;

  MachineCosts& costs_;
  std::uint64_t reserved_;
  std::uint32_t padding_;
  program::Type type_;
  std::vector<PlannedProduct> known_;
};

/// Bytes of a matrix of this size on the fullest tile.
std::uint64_t matrix_bytes(std::uint32_t rows, std::uint32_t columns, const MachineConfig& machine,
                           std::uint32_t padding, program::Type type = program::Type::f32);

}  // namespace tessera::training
