#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "kernels/mlp/data.h"
#include "kernels/mlp/layer.h"
#include "kernels/training/results.h"
#include "kernels/training/scaling.h"
#include "sim/plan/search.h"
#include "sim/program/workload.h"

/// The workload `mlp`: a stack of layers trained on images by stochastic gradient descent, with the
/// loss on the machine, in f32, or in f16 with f32 master weights. Samples are rows: every layer is
/// Y[batch, outputs] = X[batch, inputs] W. Weights, moments and gradients are stored by rows on all
/// tiles; each product moves them to the layout of its plan and back.
namespace tessera::mlp {

using training::Feed;
using training::StepResult;

struct Options : training::Course {
  std::vector<LayerOptions> layers;
  DataOptions data;
  std::uint32_t replicas = 1;  ///< copies of the network, each on a group of tiles
  program::Type dtype = program::Type::f32;
  training::LossScaling scaling;  ///< loss scaling, for f16
  PlanKeys plan;
  [[nodiscard]] bool halves() const { return dtype == program::Type::f16; }
};
void describe(config::Fields& fields, Options& options);

class Mlp : public Workload {
 public:
  Mlp(Options options, MachineCosts& costs);

  [[nodiscard]] program::Program lowered() const override;
  [[nodiscard]] nlohmann::ordered_json results(const TensorReader& tensors) const override;
  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override;

 private:
  friend class NetworkStatement;
  /// The program of a plan; the plan outlives it.
  [[nodiscard]] plan::Described describe(const NetworkPlan& plan) const;
  /// Candidate plans; `group`: costs of a machine with one copy's tiles.
  [[nodiscard]] std::vector<NetworkPlan> plans(MachineCosts& group, const TileConfig& tile) const;
  /// Chooses plan_ and returns its prediction.
  plan::Found search(MachineCosts& costs);
  [[nodiscard]] std::uint32_t steps() const { return turns_.steps; }
  [[nodiscard]] bool scaled() const { return options_.halves() && options_.train; }
  /// The first map's input `column` of a sample.
  [[nodiscard]] double input(std::uint64_t sample, std::uint64_t column) const {
    if (column < data_.inputs()) return data_.pixel(sample, column);
    return linears_.front().takes_ones() && column + 1 == linears_.front().columns() ? 1 : 0;
  }

  /// Gamma of a pixelfly layer after training.
  static double learned_gamma(const TensorReader& tensors, std::size_t map);

  /// Samples of a batch per copy.
  [[nodiscard]] std::uint32_t samples() const { return options_.batch / options_.replicas; }

  Options options_;
  std::uint32_t all_tiles_;
  MachineConfig machine_;  ///< with one copy's number of tiles
  Data data_;
  training::Turns turns_;
  std::vector<Linear> linears_;
  training::Skips skips_;
  training::TileCode code_;
  butterfly::Codes factor_code_;
  NetworkPlan plan_;
};

}  // namespace tessera::mlp
