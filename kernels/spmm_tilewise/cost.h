#pragma once

#include <algorithm>
#include <vector>

#include "kernels/gemm/vertex_costs.h"
#include "kernels/sparse/code/assembly.h"
#include "kernels/spmm_tilewise/assign.h"
#include "sim/program/image.h"

namespace tessera::spmm_tilewise {

/// Adds up what machine tiles have, job by job.
class PerTile {
 public:
  explicit PerTile(std::uint32_t tiles) : sums_(tiles, 0) {}
  void add(const Job& job, std::uint64_t what) { sums_[job.machine] += what; }
  [[nodiscard]] std::uint64_t largest() const {
    return *std::max_element(sums_.begin(), sums_.end());
  }
  [[nodiscard]] Imbalance imbalance() const {
    Imbalance all;
    for (const std::uint64_t sum : sums_) {
      all.mean += static_cast<double>(sum) / static_cast<double>(sums_.size());
      all.max = std::max(all.max, static_cast<double>(sum));
    }
    return all;
  }

 private:
  std::vector<std::uint64_t> sums_;
};

/// What groups and plans cost on a machine, which is asked what the tile code and the exchanges
/// take.
class Cost {
 public:
  Cost(const Problem& problem, MachineCosts& costs);

  [[nodiscard]] const MachineConfig& machine() const { return costs_.machine(); }
  [[nodiscard]] const OverlayWork& overlay_work() const { return works_[1]; }
  /// For dealing out panels: multiplication and loading of panels, whatever the supersteps.
  [[nodiscard]] GroupCost group(const Group& group);
  /// Fills in the prediction and the imbalance of cycles.
  void predict(Plan& plan);
  /// SRAM of the fullest tile at most; `streams`: see pattern_streams.
  [[nodiscard]] program::CategoryBytes memory(const Plan& plan,
                                              const std::vector<std::uint32_t>& streams) const;

 private:
  /// Of a tile that runs all codelets of the plan.
  [[nodiscard]] std::uint64_t code_bytes(const Plan& plan) const;
  [[nodiscard]] OverlayWork measure_overlay(bool adds);
  std::uint64_t multiply(const Group& group, std::uint64_t panels, std::uint32_t cuts,
                         std::uint32_t cut);
  [[nodiscard]] std::uint64_t overlay(const Group& group, std::uint64_t panels) const;
  [[nodiscard]] ExchangeLoad load(const Plan& plan, std::uint32_t cut) const;
  [[nodiscard]] ExchangeLoad scatter(const Plan& plan) const;
  [[nodiscard]] std::uint64_t y_bytes(const Plan& plan, const Job& job) const {
    return plan.groups[job.group].positions() * job.panels.size() * problem_.block.y_bytes();
  }
  [[nodiscard]] bool converts() const { return problem_.block.input != problem_.block.partial; }

  Problem problem_;
  MachineCosts& costs_;
  StepCosts steps_;
  gemm::VertexCosts dense_;
  sparse::TileCode code_;
  OverlayWork works_[2];  ///< overwriting C, adding to it
};

/// By group: runs of the rows of A^T that it takes in which all groups agree on who takes what;
/// each is one stream for every panel.
std::vector<std::uint32_t> pattern_streams(const std::vector<Group>& groups,
                                           std::uint32_t padded_k);

}  // namespace tessera::spmm_tilewise
