#include "models/costs/measured_costs.h"

#include <algorithm>
#include <bit>

#include "models/fabric/fabric.h"
#include "models/memory/external_estimate.h"
#include "models/memory/external_script.h"
#include "models/memory/request_cutter.h"

namespace tessera {

namespace {

/// A rough price simulates at least kRoughly requests, and kFlights times those in flight: only
/// then do tiles drift apart as in steady state.
constexpr std::uint64_t kRoughly = 2'000;
constexpr std::uint64_t kFlights = 4;

/// Keeps the three leading bits.
std::uint64_t about(std::uint64_t number) {
  constexpr int kBits = 3;
  const int drop = std::max(0, static_cast<int>(std::bit_width(number)) - kBits);
  return number >> drop << drop;
}

struct Traffic {
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;
  /// Key, equal for transfers with about equal time per byte: the number of tiles; then, for a
  /// tile's reads and writes each, entries, rows, bytes, and bytes between rows.
  std::array<std::uint64_t, 9> shares{};
};

Traffic traffic_of(std::span<const OuterLoad> loads, std::uint32_t request_bytes) {
  Traffic traffic;
  traffic.shares[0] = about(loads.size());
  for (const OuterLoad& load : loads) {
    const RequestCutter::Sum sum = RequestCutter::sum(load.entries, request_bytes);
    traffic.requests += sum.requests;
    traffic.bytes += sum.read_bytes + sum.written_bytes;
    for (const program::OuterEntry& entry : load.entries) {
      std::uint64_t* const share = &traffic.shares[entry.outward != 0 ? 5 : 1];
      share[0] += 1;
      share[1] += entry.rows;
      share[2] += std::uint64_t{entry.rows} * entry.row_bytes;
      if (entry.rows > 1) share[3] += entry.rows * entry.pitch;
    }
  }
  for (std::size_t i = 1; i < traffic.shares.size(); ++i)
    traffic.shares[i] = about(traffic.shares[i] / loads.size());
  return traffic;
}

std::uint64_t scaled(std::uint64_t cycles, std::uint64_t bytes, std::uint64_t of_bytes) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(Wide{cycles} * bytes / of_bytes);
}

program::Fingerprint fingerprint_of(std::span<const OuterLoad> loads) {
  std::vector<std::byte> asked;
  const auto add = [&](std::span<const std::byte> bytes) {
    asked.insert(asked.end(), bytes.begin(), bytes.end());
  };
  for (const OuterLoad& load : loads) {
    const std::uint64_t head[] = {index(load.tile), load.entries.size()};
    add(std::as_bytes(std::span(head)));
    add(std::as_bytes(std::span(load.entries)));
  }
  return program::fingerprint(asked);
}

}  // namespace

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
  costs->known_.tiles = tiles == 0 ? machine_.tiles : tiles;
  return costs;
}

std::unique_ptr<MeasuredCosts> MeasuredCosts::costs_of(const MachineConfig& machine) const {
  auto costs = std::make_unique<MeasuredCosts>(machine, programs_);
  costs->known_.tiles = known_.tiles;
  costs->samples_ = samples_;
  costs->schedules_ = schedules_;
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

bool MeasuredCosts::answers_alike(const Queries& asked) {
  return std::all_of(asked.tiles.begin(), asked.tiles.end(),
                     [&](const auto& each) { return sampler_.run(each.first) == each.second; });
}

std::uint64_t MeasuredCosts::exchange(const ExchangeLoad& load) const {
  return fabric::estimate(known_.fabric, load).count();
}

std::uint64_t MeasuredCosts::way(TileId from, TileId to) const {
  return fabric::way(known_.fabric, index(from), index(to)).count();
}

std::uint64_t MeasuredCosts::outside(std::span<const OuterLoad> loads, bool closely) {
  if (loads.empty()) return 0;
  const ExternalConfig& external = machine_.external;
  std::uint64_t most = kEstimatedRequests;
  if (!closely) {
    const std::uint64_t sharing = external.reach == ExternalReach::chip ? loads.size() : 1;
    most = std::max(kRoughly, kFlights * sharing * external.outstanding);
    const Traffic traffic = traffic_of(loads, external.request_bytes);
    if (sharing > 1 && traffic.requests > most) {
      const auto [known, is_new] = kinds_.try_emplace(traffic.shares);
      if (is_new) known->second = {external_cycles(machine_, loads, most).count(), traffic.bytes};
      return scaled(known->second.cycles, traffic.bytes, known->second.bytes);
    }
  }
  const auto [known, is_new] = outside_.try_emplace({fingerprint_of(loads), closely});
  if (is_new) known->second = external_cycles(machine_, loads, most).count();
  return known->second;
}

std::optional<std::uint64_t> MeasuredCosts::script(const OuterScript& script) {
  return script_cycles(machine_, script);
}

std::optional<program::ResourceUsage> MeasuredCosts::watched_usage(
    const program::Program& program, const program::Watch& watch) const {
  MachineConfig whole = known_;
  whole.tiles = machine_.tiles;
  if (programs_ != nullptr) return programs_->resource_usage(program, whole, watch);
  return program::resource_usage(program, whole, *fabric::make_exchange_compiler(whole.fabric),
                                 watch);
}

}  // namespace tessera
