#include <algorithm>

#include "kernels/catalogue.h"
#include "models/machine.h"
#include "sim/base/host_limit.h"
#include "sim/build.h"
#include "sim/data/element.h"
#include "sim/machine/nodes.h"
#include "sim/report/tensor_files.h"

#include "include/tessera/machine.h"

namespace tessera {
namespace {

/// Returns `work()`; turns its exceptions into MachineError.
template <class Work>
auto with_machine_errors(const Work& work) {
  try {
    return work();
  } catch (const MachineError&) {
    throw;
  } catch (const std::exception&) {
    const Failure failure = current_failure();
    throw MachineError(failure.message, static_cast<int>(failure.code));
  }
}

[[noreturn]] void refuse(const std::string& message) {
  throw MachineError(message, static_cast<int>(ExitCode::user_error));
}

config::Config read_text(const Machine::Config& given, const Catalogue& catalogue,
                         config::Presets machines) {
  config::Layers layers(config::parse_json(given.text, "config"), "config");
  config::machine_name_to_extends(layers);
  for (const std::string& assignment : given.sets) layers.set(assignment);
  return config::read_config(layers, "", catalogue, machines);
}

config::Config read(const Machine::Config& given) {
  const Catalogue catalogue = kernels::catalogue();
  const std::vector<config::Preset> machines = config::machine_presets();
  config::Config config = given.file.empty()
                              ? read_text(given, catalogue, machines)
                              : config::load_config(given.file, given.sets, catalogue, machines);
  config::refuse_run_files(config);
  if (!config.run.values)
    throw config.located({"run.values",
                          "found false, allowed true: a machine in a platform "
                          "computes values, which the platform may read"});
  return config;
}

}  // namespace

struct Machine::Inside {
  explicit Inside(const Config& given)
      : config(read(given)),
        built(config.locating([&] { return build(config); })),
        options(options_of(config)),
        module("machine", config.machine, built.program, built.images, options),
        tensors(built.program, module.memory()) {}

  [[nodiscard]] std::uint64_t bytes_per_tile() const { return memory_bytes(config.machine.tile); }
  [[nodiscard]] std::uint32_t ended() const {
    return module.state() == MachineModule::State::done
               ? static_cast<std::uint32_t>(module.result().runs.size())
               : 0;
  }
  /// Checks the finished run's results, once; only for a run whose inputs were loaded.
  void check_results() {
    const std::uint32_t run = ended();
    if (run == 0 || run != loads || run > built.workload->runs() || checked == run) return;
    checked = run;
    if (config.run.check != CheckMode::off)
      outcome.add(built.workload->check_run(
          tensors, {config.run.check, config.run.seed, options.threads}, run - 1));
  }

  config::Config config;
  report::Built built;
  RunOptions options;
  MachineModule module;
  TensorReader tensors;
  report::Outcome outcome;
  std::uint32_t loads = 0;
  std::uint32_t checked = 0;  ///< the last run that was checked
};

Machine::Machine(const sc_core::sc_module_name& name, const Config& config)
    : sc_module(name), socket("socket"), memory("memory"), interrupt("interrupt") {
  inside_ = with_machine_errors([&] { return std::make_unique<Inside>(config); });
  socket.bind(inside_->module.socket);
  inside_->module.outside.bind(memory);
  inside_->module.interrupt(interrupt);
}

Machine::~Machine() = default;

void Machine::load() {
  if (status() == Status::running)
    refuse("the machine is running: it can be loaded when it is done");
  if (!inside_->module.is_elaborated())
    refuse("the platform is not elaborated: load the machine from start_of_simulation on");
  with_machine_errors([&] {
    inside_->check_results();
    inside_->module.load(inside_->built.program, inside_->built.images, inside_->loads % runs());
    ++inside_->loads;
  });
}

bool Machine::start() { return inside_->module.start(); }

Machine::Status Machine::status() const { return static_cast<Status>(inside_->module.state()); }

std::string Machine::message() const {
  const std::exception_ptr failure = inside_->module.failure();
  if (!failure) return {};
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception&) {
    return current_failure().message;
  }
}

std::uint32_t Machine::runs() const { return inside_->built.workload->runs(); }

std::uint64_t Machine::cycles() const { return inside_->module.cycles().count(); }

double Machine::seconds() const {
  constexpr double kHertzAGigahertz = 1e9;
  return static_cast<double>(cycles()) / (inside_->config.machine.clock_ghz * kHertzAGigahertz);
}

std::string Machine::report() {
  Inside& inside = *inside_;
  if (inside.ended() != runs() || inside.loads != runs())
    refuse("no report: not each run of the workload was loaded, started and is done");
  return with_machine_errors([&] {
    inside.check_results();
    report::Outcome& outcome = inside.outcome;
    outcome.result = inside.module.result();
    outcome.threads = inside.options.threads;
    outcome.results = inside.built.workload->results(inside.tensors);
    constexpr int kIndent = 2;
    return report::make_report(inside.config, inside.built, outcome).json.dump(kIndent);
  });
}

std::vector<std::string> Machine::tensor_names() const {
  std::vector<std::string> names;
  for (const program::Tensor& tensor : inside_->built.program.tensors())
    if (!tensor.parts.empty() && tensor.transfer.empty() &&
        std::holds_alternative<program::Place>(tensor.parts.front().place))
      names.push_back(tensor.name);
  return names;
}

Machine::Tensor Machine::tensor(const std::string& name) const {
  const std::vector<std::string> names = tensor_names();
  if (std::ranges::find(names, name) == names.end())
    refuse(fmt::format("found tensor {}, allowed {}", name, fmt::join(names, ", ")));
  return with_machine_errors([&] {
    const program::Tensor& known = inside_->tensors.tensor(name);
    Tensor tensor{name,
                  report::kind_of(known),
                  std::string(program::name_of(known.role)),
                  data::element_bytes(known.type),
                  {}};
    for (std::size_t i = 0; i < known.parts.size(); ++i) {
      const program::TensorPart& part = known.parts[i];
      const auto place = std::get<program::Place>(part.place);
      const auto buffer = static_cast<std::size_t>(place.buffer);
      const TileId tile = inside_->built.program.buffers()[buffer].tile;
      const std::uint64_t address = sram_address(inside_->config.machine, index(tile)) +
                                    inside_->built.images.buffer_address[buffer].count() +
                                    place.offset;
      tensor.parts.push_back({address, part.bytes, {}});
      program::Runs runs;
      known.runs(i, runs);
      for (const program::Run& run : runs.all())
        tensor.parts.back().runs.push_back({run.at, run.index, run.count, run.step});
    }
    return tensor;
  });
}

std::uint32_t Machine::tiles() const { return inside_->config.machine.tiles; }

std::uint64_t Machine::bytes_per_tile() const { return inside_->bytes_per_tile(); }

std::uint64_t Machine::control_address() const { return inside_->module.control_address(); }

}  // namespace tessera
