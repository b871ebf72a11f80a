#include "models/costs/forecaster.h"

#include <utility>

#include "models/energy/area.h"
#include "models/energy/energy.h"
#include "sim/config/writers.h"

namespace tessera {
namespace {

/// Stops recording queries beyond this size.
constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;

/// All inputs of a plan except the tiles' answers.
config::Json planning_input(const config::Config& config) {
  config::Json resolved = config::identity(config.resolved);
  resolved["machine"] = config::resolved(known_to_planners(config.machine));
  resolved["shares_pipeline"] = shares_pipeline(config.machine.tile);
  return resolved;
}

/// Cycles that the host link adds, if measured.
std::uint64_t host_cycles(const config::Config& config, const program::HostBytes& bytes,
                          std::uint32_t runs) {
  if (config.run.measure != Measure::host) return 0;
  const std::uint32_t transfers =
      (bytes.written > Bytes(0) ? 1 : 0) + (bytes.read > Bytes(0) ? 1 : 0);
  return runs * (host_transfer_cycles(config.machine, bytes.total(), transfers).count() +
                 launch_cycles(config.machine).count());
}

}  // namespace

struct Forecaster::Planned {
  config::Json input;
  std::unique_ptr<Workload> workload;  ///< its data are read by the program's buffers
  program::Program program;
  program::Fingerprint identity;
};

Forecaster::Forecaster(const config::Config& first) { first_ = plan(first); }

Forecaster::~Forecaster() = default;

std::shared_ptr<const Forecaster::Planned> Forecaster::plan(const config::Config& config) {
  MeasuredCosts costs(config.machine, &programs_);
  if (!first_) costs.note(&asked_);
  std::unique_ptr<Workload> workload = config.workload->plan(costs);
  program::Program program = workload->build();
  const program::Fingerprint identity = program::fingerprint(program);
  programs_.require_fit(program, identity, known_to_planners(config.machine));
  return std::make_shared<Planned>(
      Planned{planning_input(config), std::move(workload), std::move(program), identity});
}

bool Forecaster::plans_alike(const config::Config& config) {
  return asked_.bytes <= kMostBytes && planning_input(config) == first_->input &&
         MeasuredCosts(config.machine).answers_alike(asked_);
}

sensitivity::Answer Forecaster::answer(const config::Config& config, const Planned& planned) {
  const MachineConfig& machine = config.machine;
  sensitivity::Answer answer;
  answer.plan = planned.workload->plan().dump();
  answer.problem = fmt::format("{} {}", config.kernel, planned.workload->problem());
  const std::uint32_t runs = planned.workload->runs();
  const program::HostBytes bytes = program::host_bytes(planned.program);
  const bool measured = config.run.measure == Measure::host;
  answer.prediction = planned.workload->prediction().measured(measured);
  answer.host_cycles = host_cycles(config, bytes, runs);
  const std::uint64_t cycles = answer.prediction.cycles + answer.host_cycles;
  answer.seconds = static_cast<double>(cycles) / (machine.clock_ghz * 1e9);
  if (!machine.has_energy) return answer;
  RunResult result;
  result.time.compute = Cycle(cycles);
  const bool known = activity_.estimate(planned.program, planned.identity, machine, result);
  for (std::size_t i = 0; i < result.tiles.size(); ++i) {
    TileActivity& done = result.activity[i];
    for (std::uint64_t& count : done.counts) count *= runs;
    done.byte_micrometres *= runs;
    result.tiles[i].sent = result.tiles[i].sent * runs;
    result.tiles[i].received = result.tiles[i].received * runs;
  }
  const EnergyResult energy =
      energy::account(machine, result, measured ? bytes.total() * runs : Bytes(0));
  if (known) answer.joules = energy.total_joules();
  answer.mm2 = energy.total_mm2();
  return answer;
}

sensitivity::Answer Forecaster::operator()(const config::Config& config) {
  try {
    return answer(config, plans_alike(config) ? *first_ : *plan(config));
  } catch (const UserError& error) {
    return {error.what()};
  }
}

}  // namespace tessera
