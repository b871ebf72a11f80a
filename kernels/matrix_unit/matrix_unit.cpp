#include "kernels/matrix_unit/matrix_unit.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "sim/base/errors.h"

namespace tessera::matrix_unit {

using program::Type;

namespace {

constexpr config::Names<Mode, 3> kModes{
    {{"f16", Mode::f16}, {"f16_f32", Mode::f16_f32}, {"f32", Mode::f32}}};

// Supervisor instructions beside run, join, ldcw and branches, the caller's included.
constexpr std::uint64_t kSupervisorInstructions = 5;

/// Slots of a worker, counted in codelets.S; `phases` slots a position. Short streams branch more.
std::uint64_t worker_slots(std::uint64_t phases, std::uint64_t positions) {
  constexpr std::array<std::uint64_t, 4> kBranches{0, 4, 2, 1};
  if (positions == 0) return 12;
  return 12 + (positions + 2) * phases + (positions < 4 ? kBranches[positions] : 0);
}

gemm::BlockShape shape_of(Mode mode) {
  if (mode == Mode::f32) return gemm::block_shape(Type::f32, Type::f32);
  return gemm::block_shape(Type::f16, mode == Mode::f16 ? Type::f16 : Type::f32);
}

}  // namespace

void describe(config::Fields& fields, Options& options) {
  fields.field({"n", "positions that pass the weights on each tile"}, options.n, {1, 1U << 24});
  fields.field({"dtype", "f16, f16 with f32 partials, or f32"}, options.dtype, kModes);
  fields.field({"seed", "of the values"}, options.seed);
}

MatrixUnit::MatrixUnit(const Options& options, const MachineConfig& machine)
    : options_(options), machine_(machine), block_(shape_of(options.dtype)) {
  gemm::require_unit(machine, block_);
}

nlohmann::ordered_json MatrixUnit::plan() const {
  return {{"positions", options_.n}, {"workers", machine_.tile.contexts}};
}

Prediction MatrixUnit::prediction() const {
  const TileConfig& tile = machine_.tile;
  const SupervisorCosts& costs = tile.supervisor;
  const std::uint64_t phases =
      std::uint64_t{block_.phases} * gemm::unit_slots(tile.matrix_unit, block_);
  const gemm::EvenSplit positions{options_.n, tile.contexts};
  std::uint64_t end = 0;
  for (std::uint32_t w = 0; w < tile.contexts; ++w) {
    const std::uint64_t slots = worker_slots(phases, positions.part(w).size());
    const std::uint64_t start = std::uint64_t{costs.launch_stagger_cycles} * w;
    end = std::max(end, start + slots * (tile.issue == "barrel" ? tile.contexts : 1));
  }
  const std::uint64_t load =
      costs.weight_load_cycles +
      ceil_div(block_.w_bytes(), tile.matrix_unit.weight_load_bytes_per_cycle);
  Prediction p;
  p.compute_cycles = kSupervisorInstructions * costs.plain_cycles +
                     std::uint64_t{2} * costs.branch_taken_cycles + load + costs.launch_cycles +
                     end + costs.join_cycles;
  p.sync_cycles = machine_.sync.chip_cycles;
  p.cycles = p.compute_cycles + p.sync_cycles;
  return p;
}

std::uint64_t MatrixUnit::useful_flops() const {
  return std::uint64_t{2} * options_.n * block_.depth * block_.columns * machine_.tiles;
}

std::string MatrixUnit::peak_type() const {
  if (options_.dtype == Mode::f32) return "f32";
  return options_.dtype == Mode::f16_f32 ? "f16_f32" : "f16";
}

}  // namespace tessera::matrix_unit
