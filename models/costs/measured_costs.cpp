#include "models/costs/measured_costs.h"

#include <algorithm>

#include "models/fabric/fabric.h"
#include "models/memory/external_estimate.h"
#include "models/memory/external_script.h"

namespace tessera {

MachineConfig known_to_planners(const MachineConfig& machine) {
  MachineConfig known = program::compiled_for(machine);
  known.tile.matrix_unit = machine.tile.matrix_unit;
  known.sync = machine.sync;
  return known;
}

MeasuredCosts::MeasuredCosts(const MachineConfig& machine, RememberedPrograms* programs)
    : machine_(machine),
      known_(known_to_planners(machine)),
      sampler_(machine),
      samples_(programs != nullptr ? programs->samples(machine)
                                   : std::make_shared<RememberedSamples>()),
      programs_(programs) {}

std::unique_ptr<MachineCosts> MeasuredCosts::with_workers(std::uint32_t workers) const {
  if (!shares_pipeline(machine_.tile)) return nullptr;
  MachineConfig machine = machine_;
  machine.tile.contexts = workers;
  return costs_of(machine);
}

std::unique_ptr<MachineCosts> MeasuredCosts::with_tiles(std::uint32_t tiles) const {
  std::unique_ptr<MeasuredCosts> costs = costs_of(machine_);
  costs->known_.tiles = tiles;
  return costs;
}

std::unique_ptr<MeasuredCosts> MeasuredCosts::costs_of(const MachineConfig& machine) const {
  auto costs = std::make_unique<MeasuredCosts>(machine, programs_);
  costs->known_.tiles = known_.tiles;
  costs->samples_ = samples_;
  costs->note(asked_);
  return costs;
}

TileCost MeasuredCosts::tile(const program::Program& sample) {
  std::optional<TileSampler::Prepared> prepared;
  const TileCost cost = samples_->cost(sample, machine_.tile.contexts, [&] {
    prepared = sampler_.prepare(sample);
    return sampler_.run(*prepared);
  });
  if (asked_ != nullptr) {
    if (!prepared) prepared = sampler_.prepare(sample);
    asked_->bytes += prepared->bytes();
    asked_->tiles.emplace_back(*std::move(prepared), cost);
  }
  return cost;
}

bool MeasuredCosts::answers_alike(const Asked& asked) {
  return std::all_of(asked.tiles.begin(), asked.tiles.end(),
                     [&](const auto& each) { return sampler_.run(each.first) == each.second; });
}

std::uint64_t MeasuredCosts::exchange(const ExchangeLoad& load) const {
  return fabric::estimate(known_.fabric, load).count();
}

std::uint64_t MeasuredCosts::outside(std::span<const OuterLoad> loads, bool closely) {
  constexpr std::uint64_t kRoughly = 2'000;  // requests
  std::vector<std::byte> asked;
  const auto add = [&](std::span<const std::byte> bytes) {
    asked.insert(asked.end(), bytes.begin(), bytes.end());
  };
  for (const OuterLoad& load : loads) {
    const std::uint64_t head[] = {index(load.tile), load.entries.size()};
    add(std::as_bytes(std::span(head)));
    add(std::as_bytes(std::span(load.entries)));
  }
  const auto [known, is_new] = outside_.try_emplace({program::fingerprint(asked), closely});
  if (is_new)
    known->second =
        external_cycles(machine_, loads, closely ? kEstimatedRequests : kRoughly).count();
  return known->second;
}

std::optional<std::uint64_t> MeasuredCosts::script(const OuterScript& script) {
  return script_cycles(machine_, script);
}

std::optional<program::Needs> MeasuredCosts::watched_needs(const program::Program& program,
                                                           const program::Watch& watch) const {
  MachineConfig whole = known_;
  whole.tiles = machine_.tiles;
  if (programs_ != nullptr) return programs_->needs(program, whole, watch);
  return program::needs(program, whole, *fabric::make_exchange_compiler(whole.fabric), watch);
}

}  // namespace tessera
