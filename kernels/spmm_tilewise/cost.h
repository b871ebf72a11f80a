#pragma once

#include "kernels/spmm_tilewise/assign.h"
#include "sim/program/image.h"

namespace tessera::spmm_tilewise {

/// What groups and plans cost on a machine: its constants times the length of gemm's tile code.
class Cost {
 public:
  Cost(const Problem& problem, const MachineConfig& machine)
      : problem_(problem), machine_(machine) {}

  /// For dealing out panels: multiplication and loading of panels, whatever the supersteps.
  [[nodiscard]] GroupCost group(const Group& group) const;
  /// Fills in the prediction and the imbalance of cycles.
  void predict(Plan& plan) const;
  /// SRAM of the fullest tile at most; `streams`: see pattern_streams.
  [[nodiscard]] program::CategoryBytes memory(const Plan& plan,
                                              const std::vector<std::uint32_t>& streams) const;

 private:
  [[nodiscard]] std::uint64_t multiply(const Group& group, std::uint64_t panels, std::uint32_t cuts,
                                       std::uint32_t cut) const;
  [[nodiscard]] std::uint64_t overlay(const Group& group, std::uint64_t panels) const;
  [[nodiscard]] std::uint64_t pack(std::uint64_t bytes) const;
  [[nodiscard]] std::uint64_t load(const Plan& plan, std::uint32_t cut) const;
  [[nodiscard]] std::uint64_t scatter(const Plan& plan) const;
  [[nodiscard]] std::uint64_t y_bytes(const Plan& plan, const Job& job) const;

  Problem problem_;
  const MachineConfig& machine_;
};

/// By group: runs of the rows of A^T that it takes in which all groups agree on who takes what;
/// each is one stream for every panel.
std::vector<std::uint32_t> pattern_streams(const std::vector<Group>& groups,
                                           std::uint32_t padded_k);

}  // namespace tessera::spmm_tilewise
