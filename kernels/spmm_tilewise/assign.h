#pragma once

#include "kernels/spmm_tilewise/plan.h"

namespace tessera::spmm_tilewise {

/// Cycles that a group costs a machine tile: once, and for each panel.
struct GroupCost {
  std::uint64_t fixed;
  std::uint64_t panel;
};

/// Deals the panels of all groups to `tiles` machine tiles so that the largest cost is least. Where
/// there are enough, every group gets tiles of its own, in pairs if possible: both take the same
/// weights. Else a tile takes all panels of several groups.
std::vector<Job> assign(const std::vector<GroupCost>& costs, std::uint32_t panels,
                        std::uint32_t tiles);

}  // namespace tessera::spmm_tilewise
