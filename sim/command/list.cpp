#include <array>
#include <cstdio>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/command/choices.h"
#include "sim/command/commands.h"
#include "sim/command/validation_set.h"
#include "sim/config/nearest.h"
#include "sim/config/writers.h"

namespace tessera::command {
namespace {

constexpr std::array<std::string_view, 4> kWhats = {"machines", "workloads", "fabrics", "sets"};

void list_machines(const Simulator& simulator) {
  for (const config::Preset& preset : simulator.machines) {
    const MachineConfig machine =
        config::load_machine(std::string(preset.name), simulator.machines);
    fmt::print("{:<12} {} of {} KiB, {} GHz, {}, fabric {}\n", preset.name,
               counted(machine.tiles, "tile"), machine.tile.sram_kib, machine.clock_ghz,
               counted(machine.tile.contexts, "context"), machine.fabric.kind);
  }
}

void list_fabrics() {
  const config::Json kind = config::schema(FabricConfig())["properties"]["kind"];
  for (const config::Json& name : kind["enum"])
    if (name.is_string()) fmt::print("{}\n", name.get<std::string>());
}

void list_sets_of(config::Presets presets, std::string_view note) {
  for (const config::Preset& preset : presets) {
    const ValidationSet set = read_validation_set(preset);
    fmt::print("{:<20} {} ({}, {}{})\n", preset.name, set.title,
               counted(set.points.size(), "point"), kind_of(set.evidence).name, note);
  }
}

/// Prints the sets that `tessera validate` accepts by name: its own checks, and figures of papers.
void list_sets(const Simulator& simulator) {
  list_sets_of(simulator.validation, "");
  list_sets_of(simulator.papers, ", by name alone");
}

/// Prints the introduction to the page of all keys.
void print_introduction(const Simulator& simulator) {
  const std::vector<std::string> machines = names_of(simulator.machines);
  fmt::print(R"(# Configs

A config is one JSON file, comments allowed: a machine, a workload, how to run it, what to report.

    {{ "machine": {{"extends": "bow", "tiles": 736}},
      "workload": {{"kernel": "{}", "seed": 1}},
      "run": {{"threads": 2}} }}

`machine` is a preset's name ({}) or a file, or an object that may extend either. `extends` at the top
extends another config. Objects merge, lists replace. Keys `"//"` are notes. Any key below can be given
on the command line: `--set machine.tiles=64`. What is unknown, of a wrong type or out of range is refused.

)",
             simulator.catalogue.front().name, config::list_of(config::views(machines)));
}

void list_whats() {
  fmt::print(
      "machines     machine presets\nworkloads    kernels\nfabrics      kinds of exchange "
      "fabrics\nsets         published numbers for tessera validate\n");
}

/// Prints machines, workloads, fabrics or sets, one line each; empty `what`: these four words.
ExitCode list(const std::string& what, const Simulator& simulator) {
  if (what.empty()) {
    list_whats();
  } else if (what == "machines") {
    list_machines(simulator);
  } else if (what == "workloads") {
    for (const Kernel& kernel : simulator.catalogue) {
      fmt::print("{:<12} {}\n", kernel.name, kernel.sentence);
    }
  } else if (what == "fabrics") {
    list_fabrics();
  } else if (what == "sets") {
    list_sets(simulator);
  } else {
    throw UserError("tessera list: found {}, allowed {}", what, config::names_near(what, kWhats));
  }
  return ExitCode::done;
}

struct SchemaRequest {
  bool markdown = false;
  bool machine = false;
};

/// Prints the JSON Schema of configs or of machine files, or all keys as Markdown tables.
ExitCode schema(const SchemaRequest& request, const Simulator& simulator) {
  if (request.markdown && request.machine)
    throw UserError(
        "tessera schema: --machine: found beside --markdown, allowed one of them: the "
        "tables have a machine's keys too");
  if (request.markdown) {
    print_introduction(simulator);
    fmt::print("{}", config::config_markdown(simulator.catalogue));
  } else if (request.machine) {
    fmt::print("{}\n", config::machine_file_schema(simulator.machines).dump(2));
  } else {
    fmt::print("{}\n", config::config_schema(simulator.catalogue, simulator.machines).dump(2));
  }
  return ExitCode::done;
}

}  // namespace

Command list_command(const Simulator& simulator) {
  const auto what = std::make_shared<std::string>();
  return {
      "list",
      "list what a config can name",
      {choosing({"WHAT", what.get(), "machines, workloads, fabrics or sets (default: these four)"},
                [] { return std::vector<std::string>(kWhats.begin(), kWhats.end()); })},
      [what, &simulator] { return list(*what, simulator); }};
}

Command schema_command(const Simulator& simulator) {
  const auto request = std::make_shared<SchemaRequest>();
  return {"schema",
          "the JSON Schema of configs, or of machine files",
          {{"--machine", &request->machine, "schema of machine files, as in configs/machines"},
           {"--markdown", &request->markdown, "print all keys as Markdown tables instead"}},
          [request, &simulator] { return schema(*request, simulator); }};
}

}  // namespace tessera::command
