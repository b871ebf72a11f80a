#include "models/costs/forecaster.h"

#include <utility>

#include "models/costs/measured_costs.h"
#include "models/energy/area.h"
#include "models/energy/energy.h"

namespace tessera {
namespace {

/// The machine's own costs, exchanges scheduled once.
class SharedCosts final : public MachineCosts {
 public:
  SharedCosts(const MachineConfig& machine, RememberedExchanges& exchanges)
      : own_(machine), exchanges_(exchanges) {}

  [[nodiscard]] const MachineConfig& machine() const override { return own_.machine(); }
  [[nodiscard]] TileCost tile(const program::Program& sample) override { return own_.tile(sample); }
  [[nodiscard]] std::uint64_t exchange(const ExchangeLoad& load) const override {
    return own_.exchange(load);
  }
  [[nodiscard]] program::Images compile(const program::Program& program) const override {
    return program::compile(program, machine(), *exchanges_.compiler(machine().fabric));
  }
  [[nodiscard]] std::uint64_t barrier() const override { return own_.barrier(); }

 private:
  MeasuredCosts own_;
  RememberedExchanges& exchanges_;
};

/// All that a plan can depend on: planners are not shown the table of joules and mm2.
std::string planning_input(const config::Config& config) {
  config::Json resolved = config::identity(config.resolved);
  resolved["machine"].erase("energy");
  return resolved.dump();
}

}  // namespace

struct Forecaster::Planned {
  std::string input;
  std::unique_ptr<Workload> workload;  ///< whose data the program's buffers hold
  program::Program program;
  std::uint64_t cycles;
  Bytes transferred;  ///< to and from the host in the measured region
};

Forecaster::Forecaster(const config::Config& first)
    : first_(std::make_unique<Planned>(plan(first))) {
  exchanges_.seal();
}

Forecaster::~Forecaster() = default;

Forecaster::Planned Forecaster::plan(const config::Config& config) {
  MachineConfig machine = config.machine;
  machine.has_energy = false;
  machine.energy = {};
  SharedCosts costs(machine, exchanges_);
  std::unique_ptr<Workload> workload = config.workload->plan(costs);
  program::Program program = workload->build();
  static_cast<void>(costs.compile(program));  // it fits
  std::uint64_t cycles = workload->prediction().cycles;
  Bytes transferred;
  if (config.run.measure == Measure::host) {
    const program::HostBytes bytes = program::host_bytes(program);
    const std::uint32_t transfers =
        (bytes.written > Bytes(0) ? 1 : 0) + (bytes.read > Bytes(0) ? 1 : 0);
    transferred = bytes.total() * workload->runs();
    cycles += workload->runs() * host_transfer_cycles(machine, bytes.total(), transfers).count();
  }
  return {planning_input(config), std::move(workload), std::move(program), cycles, transferred};
}

sensitivity::Answer Forecaster::answer(const config::Config& config, const Planned& planned) {
  const MachineConfig& machine = config.machine;
  sensitivity::Answer answer;
  answer.plan = planned.workload->plan().dump();
  answer.problem = fmt::format("{} {}", config.kernel, planned.workload->problem());
  answer.seconds = static_cast<double>(planned.cycles) / (machine.clock_ghz * 1e9);
  if (!machine.has_energy) return answer;
  RunResult result;
  result.time.compute = Cycle(planned.cycles);
  const std::uint32_t runs = planned.workload->runs();
  const bool known = activity_.estimate(planned.program, machine, result);
  for (std::size_t i = 0; i < result.tiles.size(); ++i) {
    TileActivity& done = result.activity[i];
    for (std::uint64_t& count : done.counts) count *= runs;
    done.byte_micrometres *= runs;
    result.tiles[i].sent = result.tiles[i].sent * runs;
    result.tiles[i].received = result.tiles[i].received * runs;
  }
  const EnergyResult energy = energy::account(machine, result, planned.transferred);
  if (known) answer.joules = energy.total_joules();
  answer.mm2 = energy.total_mm2();
  return answer;
}

sensitivity::Answer Forecaster::operator()(const config::Config& config) {
  try {
    if (first_ && planning_input(config) == first_->input) return answer(config, *first_);
    return answer(config, plan(config));
  } catch (const UserError& error) {
    return {error.what()};
  }
}

}  // namespace tessera
