#include "sim/report/profile.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/base/whole_file.h"
#include "sim/command/choices.h"
#include "sim/command/commands.h"
#include "sim/command/exec.h"
#include "sim/command/progress.h"
#include "sim/data/read_file.h"

namespace tessera::command {
namespace {

struct ProfileRequest {
  ExecRequest exec;               ///< an ELF program, or a config; other fields are for programs
  std::vector<std::string> sets;  ///< for configs only
  report::ProfileView view;
  std::string out;  ///< a CSV file; empty: none
};

using report::ProfiledFunction;

std::optional<std::uint32_t> word_of(const elf::Program& program, std::uint32_t pc) {
  for (const elf::Segment& segment : program.segments) {
    if (pc < segment.address || pc - segment.address + sizeof pc > segment.bytes.size()) continue;
    std::uint32_t word = 0;
    std::memcpy(&word, segment.bytes.data() + (pc - segment.address), sizeof word);
    return word;
  }
  return std::nullopt;
}

/// Of labels at one address, such as a function and its section, the function's is used.
std::vector<isa::Label> labels_of(const elf::Program& program) {
  std::vector<isa::Label> labels;
  bool function = false;  // of the last label
  for (const elf::Symbol& symbol : program.symbols) {
    const bool inside = symbol.function || !symbol.name.starts_with("__");
    if (!inside) continue;
    if (!labels.empty() && labels.back().address == symbol.address) {
      if (function || !symbol.function) continue;
      labels.pop_back();
    }
    labels.push_back({symbol.address, symbol.name});
    function = symbol.function;
  }
  return labels;
}

struct Profiled {
  std::string heading;
  std::vector<ProfiledFunction> functions;
};

Profiled of_program(const ProfileRequest& request, const Simulator& simulator) {
  const elf::Program program = elf::read_file(request.exec.file);
  const engine::ExecResult result = execute(program, request.exec, true, simulator);
  return {
      fmt::format("{} on a tile of {}: {}, {}, {}", request.exec.file, request.exec.machine_name(),
                  counted(result.cycles, "cycle"), counted(result.slots, "slot"),
                  counted(result.instructions, "instruction")),
      report::profiled_functions(result.profile, labels_of(program),
                                 [&program](std::uint32_t pc) { return word_of(program, pc); })};
}

Profiled of_config(const config::Config& config, const ProfileRequest& request,
                   const Simulator& simulator) {
  Progress progress(false);
  progress.show("planning and building");
  return config.locating([&]() -> Profiled {
    const report::Built built = simulator.build(config);
    progress.show("running");
    std::vector<ProfiledFunction> functions = simulator.profile(config, built);
    progress.clear();
    return {fmt::format("{}: codelets, measured cycles of all worker contexts of {}",
                        request.exec.file, counted(config.machine.tiles, "tile")),
            std::move(functions)};
  });
}

bool is_elf(const std::string& file) {
  return file != "-" && data::read_file(file).starts_with(
                            "\x7f"
                            "ELF");
}

/// A config has its own machine and limit.
void refuse_options_of_programs(const ExecRequest& request) {
  const auto refuse = [](const std::string& given, const char* option, const char* key) {
    if (given.empty()) return;
    throw UserError(
        "tessera profile: {}: found with a config, allowed with a program; of a config: "
        "--set {}={}",
        option, key, given);
  };
  refuse(request.machine, "--machine", "machine");
  refuse(request.max_cycles, "--max-cycles", "run.max_cycles");
}

/// Runs a bare program on one tile, or a config, and prints the cycles of its workers.
ExitCode profile(const ProfileRequest& request, const Simulator& simulator) {
  report::ProfileView view = request.view;
  Profiled profiled;
  if (is_elf(request.exec.file)) {
    if (!request.sets.empty())
      throw UserError("tessera profile: --set: found with a program, allowed with a config");
    profiled = of_program(request, simulator);
    view.cycles_per_slot = tessera::cycles_per_slot(
        config::load_machine(request.exec.machine_name(), simulator.machines).tile);
  } else {
    refuse_options_of_programs(request.exec);
    const config::Config config = config::load_config(request.exec.file, request.sets,
                                                      simulator.catalogue, simulator.machines);
    profiled = of_config(config, request, simulator);
    view.cycles_per_slot = tessera::cycles_per_slot(config.machine.tile);
  }
  if (!request.out.empty()) write_whole(request.out, report::profile_csv(profiled.functions, view));
  fmt::print("{}\n\n{}", profiled.heading,
             report::profile_text(std::move(profiled.functions), view));
  return ExitCode::done;
}

}  // namespace

Command profile_command(const Simulator& simulator) {
  const auto request = std::make_shared<ProfileRequest>();
  return {"profile",
          "profile cycles by instruction, for a bare program or a config's codelets",
          {{"FILE", &request->exec.file, "an ELF program as for exec, or a config", kRequired},
           set_option(&request->sets, simulator),
           {"--top", &request->view.top,
            "print this many of the most expensive instructions instead of listings"},
           {"--symbol", &request->view.symbol, "profile only this function or codelet"},
           choosing({"--machine", &request->exec.machine,
                     "programs: a machine preset or file (default: bow)"},
                    [&simulator] { return names_of(simulator.machines); }),
           {"--max-cycles", &request->exec.max_cycles,
            "programs: limit on simulated cycles (default: 10^10)"},
           {"--out", &request->out, "also write all rows to this CSV file"}},
          [request, &simulator] { return profile(*request, simulator); }};
}

}  // namespace tessera::command
