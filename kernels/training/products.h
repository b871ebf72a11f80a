#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/gemm/plan.h"
#include "kernels/training/statement.h"

namespace tessera::training {

/// A dense product with its plan, sizes padded.
struct PlannedProduct {
  gemm::Product size;
  gemm::Candidate candidate;
  gemm::Geometry geometry;
};

/// Products of a layer y = x W: the gradient of W where it is trained, and that of x where others
/// are before it.
struct DensePlan {
  std::uint32_t padding;  ///< padding of its matrices
  PlannedProduct forward;
  std::optional<PlannedProduct> weight_gradient, input_gradient;
};
struct PlannedLayer {
  std::optional<DensePlan> plan;
  std::string misfit = {};  ///< without a plan: what fits no tile, and why
};
/// Their plans as they are printed and pinned.
struct DenseKeys {
  std::optional<gemm::Plan> forward, weight_gradient, input_gradient;
};
void describe(config::Fields& fields, DenseKeys& keys);
/// The key of a plan that says what matrices are padded to; 0: searched.
void describe_padding(config::Fields& fields, std::uint32_t& padding);
/// Those to search: the pinned one; with `pinned_products` but none pinned the largest. Throws
/// KeyError if no product's blocks divide it.
std::vector<std::uint32_t> paddings(const MachineConfig& machine, std::uint32_t pinned,
                                    bool pinned_products, program::Type type = program::Type::f32);
DenseKeys keys_of(const DensePlan& plan);

/// A layer in words of the config.
struct DenseLayer {
  std::uint32_t samples, inputs, outputs;
  std::string key;  ///< "workload.layers[1]"
  bool trains, first;
  DenseKeys pinned = {};
};

/// Plans the products of a program, each size once: of one type, summed in f32, by rows that
/// are padded to multiples of `padding`, on tiles of which `reserved` bytes are taken.
class ProductPlanner {
 public:
  ProductPlanner(MachineCosts& costs, std::uint64_t reserved, std::uint32_t padding,
                 program::Type type = program::Type::f32)
      : costs_(costs), reserved_(reserved), padding_(padding), type_(type) {}

  [[nodiscard]] PlannedLayer plan(const DenseLayer& layer);

 private:
  /// A product's purpose, in words of the config that asks for it, and its plan if it is pinned.
  struct Use {
    std::string key, what;
    const std::optional<gemm::Plan>& pinned;
  };
  /// [m, k] times [k, n]; nothing once there is a misfit.
  std::optional<PlannedProduct> product(std::uint32_t m, std::uint32_t k, std::uint32_t n,
                                        const Use& use, std::string& misfit);
  [[nodiscard]] gemm::Candidate candidate(const gemm::Problem& problem, const Use& use) const;

  MachineCosts& costs_;
  std::uint64_t reserved_;
  std::uint32_t padding_;
  program::Type type_;
  std::vector<PlannedProduct> known_;
};

/// Bytes that a matrix of this size takes on the fullest tile.
std::uint64_t matrix_bytes(std::uint32_t rows, std::uint32_t columns, const MachineConfig& machine,
                           std::uint32_t padding, program::Type type = program::Type::f32);

}  // namespace tessera::training
