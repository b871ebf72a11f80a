#include "kernels/gemm/cost.h"

#include <algorithm>

#include "kernels/gemm/panels.h"
#include "kernels/gemm/product_cost.h"
#include "sim/machine/code_cost.h"

namespace tessera::gemm {

namespace {

constexpr Cell kFullest{0, 0, 0};  // even splits put the larger parts first

struct Rates {
  std::uint64_t single;  ///< bytes a cycle into one tile
  std::uint64_t shared;  ///< where both tiles of a pair take the same
};

Rates rates(const MachineConfig& machine) {
  const FabricConfig& fabric = machine.fabric;
  const std::uint64_t rate = std::min(fabric.receive_bytes_per_cycle, fabric.send_bytes_per_cycle);
  return {rate, fabric.pair_sharing ? 2 * rate : rate};
}

/// Cycles that the bytes of one superstep take into the fullest tile, or out of one that holds
/// nothing but what this superstep needs.
std::uint64_t input_cycles(const Geometry& geometry, const MachineConfig& machine,
                           std::uint32_t cut) {
  const Rates in = rates(machine);
  const bool by_column = geometry.pairs_share_x();
  const std::uint32_t neighbours = by_column ? geometry.column_parts() : geometry.row_parts();
  const std::uint64_t shared = neighbours % 2 == 0 ? in.shared : in.single;
  const std::uint64_t x = geometry.x_bytes(kFullest, cut);
  const std::uint64_t w = geometry.w_bytes(kFullest, cut);
  const std::uint64_t received =
      ceil_div(x, by_column ? shared : in.single) + ceil_div(w, by_column ? in.single : shared);
  const std::uint64_t sent = std::min(x, stored_bytes(geometry.x_bytes(), machine.tiles)) +
                             std::min(w, stored_bytes(geometry.w_bytes(), machine.tiles));
  return std::max(received, ceil_div(sent, in.single));
}

// Supervisor code around a regrouping vertex.
constexpr std::uint64_t kRegroupingInstructions = 5;

std::uint64_t regrouping_cycles(const MachineConfig& machine, std::uint64_t rows,
                                std::uint64_t chunks, std::uint64_t chunk_bytes) {
  const EvenSplit split{rows, machine.tile.contexts};
  return CodeCost(machine.tile).run([&](std::uint32_t w) {
    return regrouping_slots(split.part(w).size(), chunks, chunk_bytes / 8);
  });
}

/// Layout natural, before the product: rows of A and B to panels, and their regrouping.
void add_input_relayout(const Geometry& geometry, const MachineConfig& machine, Prediction& sum) {
  const CodeCost code(machine.tile);
  std::uint64_t received = 0;
  std::uint64_t vertices = 0;
  for (const Storage::Role role : {Storage::Role::x, Storage::Role::w}) {
    for (const Panel& panel : Panels(geometry, role, machine.tiles).on_tile(0)) {
      received += panel.bytes();
      sum.compute_cycles += regrouping_cycles(machine, panel.rows, panel.chunks, panel.chunk_bytes);
      ++vertices;
    }
  }
  const std::uint64_t sent = stored_bytes(geometry.x_bytes(), machine.tiles) +
                             stored_bytes(geometry.w_bytes(), machine.tiles);
  sum.compute_cycles += code.plain(vertices * kRegroupingInstructions);
  sum.exchange_cycles +=
      machine.fabric.fixed_cycles + ceil_div(std::max(received, sent), rates(machine).single);
  sum.sync_cycles += machine.sync.chip_cycles;
}

/// Layout natural, after the product: blocks of Y to rows, and the results to the rows of C.
void add_result_relayout(const Geometry& geometry, const MachineConfig& machine, Prediction& sum) {
  const CodeCost code(machine.tile);
  sum.compute_cycles +=
      code.plain(kRegroupingInstructions) + regrouping_cycles(machine, geometry.rows(0).size(),
                                                              geometry.column_blocks(0).size(),
                                                              geometry.block().y_bytes());
  const std::uint64_t moved = std::max(geometry.result_bytes(kFullest),
                                       stored_bytes(geometry.result_bytes(), machine.tiles));
  sum.exchange_cycles += machine.fabric.fixed_cycles + ceil_div(moved, rates(machine).single);
  sum.sync_cycles += std::uint64_t{2} * machine.sync.chip_cycles;
}

void add_final_steps(const Geometry& geometry, const MachineConfig& machine, Prediction& sum) {
  // Supervisor code around a vertex of all workers, and around the exchange before it.
  constexpr std::uint64_t kAddingInstructions = 6;
  constexpr std::uint64_t kPackingInstructions = 8;
  constexpr std::uint64_t kPair = 16;  // bytes that a loop takes at once
  const CodeCost code(machine.tile);
  const std::uint32_t parts = geometry.plan().split_k;
  const std::uint64_t share = geometry.y_share(kFullest).size();
  const EvenSplit pairs{share / kPair, machine.tile.contexts};
  if (parts > 1) {
    sum.sync_cycles += machine.sync.chip_cycles;
    sum.exchange_cycles +=
        machine.fabric.fixed_cycles + ceil_div(share * (parts - 1), rates(machine).single);
    sum.compute_cycles += code.plain(kAddingInstructions) + code.run([&](std::uint32_t w) {
      return adding_slots(pairs.part(w).size(), parts - 1);
    });
  }
  if (geometry.converts()) {
    sum.compute_cycles += code.plain(kPackingInstructions) + code.run([&](std::uint32_t w) {
      return packing_slots(pairs.part(w).size());
    });
  }
}

}  // namespace

Prediction predict(const Geometry& geometry, const MachineConfig& machine) {
  const ProductCost code(machine.tile);
  Prediction sum;
  const std::uint32_t cuts = geometry.plan().cuts;
  auto add = [&](std::uint32_t cut, std::uint64_t times) {
    if (times == 0) return;
    const std::uint64_t input = machine.fabric.fixed_cycles + input_cycles(geometry, machine, cut);
    sum.sync_cycles += times * machine.sync.chip_cycles;
    sum.exchange_cycles += times * input;
    sum.compute_cycles += times * code.product(geometry.block(), geometry.rows(0).size(),
                                               geometry.column_blocks(0).size(),
                                               geometry.depth_blocks(0, cut).size(), cut > 0);
  };
  const auto longer = static_cast<std::uint32_t>(geometry.depth_blocks(0).size() % cuts);
  add(0, 1);
  add(1, longer > 1 ? longer - 1 : 0);
  add(cuts - 1, longer > 1 ? cuts - longer : cuts - 1);
  if (geometry.natural()) {
    add_input_relayout(geometry, machine, sum);
    add_result_relayout(geometry, machine, sum);
  }
  add_final_steps(geometry, machine, sum);
  sum.cycles = sum.compute_cycles + sum.exchange_cycles + sum.sync_cycles;
  return sum;
}

}  // namespace tessera::gemm
