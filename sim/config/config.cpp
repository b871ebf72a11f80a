#include "sim/config/config.h"

#include <filesystem>

#include <fmt/format.h>

#include "sim/base/ranges.h"
#include "sim/config/nearest.h"
#include "sim/config/reader.h"
#include "sim/config/writers.h"

namespace tessera::config {
namespace {

constexpr std::string_view kSections[] = {"machine", "workload", "run", "report"};

void refuse_unknown_section(const std::string& key, const std::string& origin) {
  if (contains(kSections, key) || key.starts_with("//") || key == "$schema") return;
  if (key == "extends") {
    throw ConfigError(origin, key, "allowed in a config file only; a machine has machine.extends");
  }
  if (key == "sweep") throw ConfigError(origin, key, "is a section for tessera sweep alone");
  throw ConfigError(origin, key, "found an unknown key, allowed extends, {}",
                    names_near(key, kSections));
}

void refuse_unknown_sections(const Layers& layers) {
  for (const auto& [key, value] : layers.value().items()) {
    refuse_unknown_section(key, layers.origin(key));
  }
}

/// Reports an unknown section in `--set` first, before an error about keys below it.
void refuse_unknown_target(const std::string& assignment) {
  const std::string first = assignment.substr(0, assignment.find_first_of(".[="));
  if (!first.empty() && assignment.find('=') != std::string::npos) {
    refuse_unknown_section(first, "--set " + assignment);
  }
}

/// Returns a section's value, or an empty object.
const Json& section(const Layers& layers, const std::string& key, const Json& nothing) {
  const auto found = layers.value().find(key);
  return found == layers.value().end() || found->is_null() ? nothing : *found;
}

MachineConfig read_machine(const Layers& layers, const Json& values) {
  MachineConfig machine;
  Reader(layers, values, "machine").read(machine);
  return machine;
}

const Kernel& find_kernel(const Layers& layers, const Json& workload, const Catalogue& catalogue) {
  std::vector<std::string_view> names;
  for (const Kernel& kernel : catalogue) names.emplace_back(kernel.name);
  if (!workload.is_object()) {
    throw ConfigError(layers.origin("workload"), "workload",
                      "found {}, allowed an object {{\"kernel\": ...}}", shown(workload));
  }
  const auto found = workload.find("kernel");
  if (found == workload.end()) {
    throw ConfigError(layers.origin("workload"), "workload.kernel", "is missing, allowed {}",
                      list_of(names));
  }
  const std::string name = found->is_string() ? found->get<std::string>() : "";
  for (const Kernel& kernel : catalogue) {
    if (kernel.name == name) return kernel;
  }
  throw ConfigError(layers.origin("workload.kernel"), "workload.kernel", "found {}, allowed {}",
                    shown(*found), names_near(name, names));
}

/// Seeds the workers' generators and, if the kernel has a `seed` key, the workload's data.
void set_seed(Layers& layers, const std::string& seed, const Catalogue& catalogue) {
  const std::string option = "--seed " + seed;
  const Json value = parse_value(seed, option);
  layers.set("run.seed", value, option);
  const Json nothing = Json::object();
  const Kernel& kernel = find_kernel(layers, section(layers, "workload", nothing), catalogue);
  const std::unique_ptr<KernelOptions> options = kernel.options();
  const Json keys = resolved([&](Fields& fields) { options->visit(fields); });
  if (keys.contains("seed")) layers.set("workload.seed", value, option);
}

Json resolved_of(const Config& config) {
  Json workload = Json::object({{"kernel", config.kernel}});
  workload.update(resolved([&](Fields& fields) { config.workload->visit(fields); }));
  return Json::object({{"machine", resolved(config.machine)},
                       {"workload", std::move(workload)},
                       {"run", resolved(config.run)},
                       {"report", resolved(config.report)}});
}

/// Without run.values, refuses options that show or compare values.
void refuse_values(const Config& config) {
  if (config.run.values) return;
  const auto refuse = [&](const char* section, const char* key, const char* allowed) {
    throw config.located(
        {fmt::format("{}.{}", section, key),
         fmt::format("found {}, allowed {} where run.values is false: no values are computed",
                     shown(config.resolved[section][key]), allowed)});
  };
  const CheckMode check = config.run.check;
  if (check == CheckMode::full || check == CheckMode::sample) refuse("run", "check", "auto, off");
  if (config.run.check_races) refuse("run", "check_races", "false");
  if (!config.report.tensors.empty()) refuse("report", "tensors", "\"\"");
}

}  // namespace

Config read_config(const Layers& given, const std::string& name, const Catalogue& catalogue,
                   Presets machines) {
  Layers layers = given;
  refuse_unknown_sections(layers);
  if (!layers.value().contains("machine")) {
    throw ConfigError(layers.origin(""), "machine", "is missing, allowed a preset or an object");
  }
  layers.replace_section("machine", extend_machine(layers.section("machine"), machines));
  layers.set_waiting();
  const Json nothing = Json::object();
  Config config;
  config.machine = read_machine(layers, layers.value()["machine"]);
  const Json& workload = section(layers, "workload", nothing);
  const Kernel& kernel = find_kernel(layers, workload, catalogue);
  config.kernel = kernel.name;
  config.workload = kernel.options();
  Reader(layers, workload, "workload")
      .read_members([&](Fields& fields) { config.workload->visit(fields); }, {"kernel"});
  Reader(layers, section(layers, "run", nothing), "run").read(config.run);
  Reader(layers, section(layers, "report", nothing), "report").read(config.report);
  config.name = name.empty() ? config.kernel : name;
  config.resolved = resolved_of(config);
  config.layers = std::move(layers);
  refuse_values(config);
  return config;
}

Config load_config(const std::string& file, std::span<const std::string> sets,
                   const Catalogue& catalogue, Presets machines, const GivenOptions& options) {
  Layers layers = load_layers(file);
  for (const std::string& assignment : sets) {
    refuse_unknown_target(assignment);
    layers.set(assignment);
  }
  for (const auto& [option, path, value] : options.values)
    layers.set(path, parse_value(value, option), option);
  if (!options.seed.empty()) set_seed(layers, options.seed, catalogue);
  const std::string name = file == "-" ? "" : std::filesystem::path(file).stem().string();
  return read_config(layers, name, catalogue, machines);
}

void refuse_run_files(const Config& config) {
  const auto refuse = [&](const char* key, const char* allowed, const char* files) {
    throw config.located({fmt::format("report.{}", key),
                          fmt::format("found {}, allowed {}: tessera run alone writes {}",
                                      shown(config.resolved["report"][key]), allowed, files)});
  };
  if (config.report.trace != TraceDetail::none) refuse("trace", "none", "traces");
  if (!config.report.tensors.empty()) refuse("tensors", "\"\"", "tensors");
}

MachineConfig load_machine(const std::string& name, Presets machines) {
  const Layers named(Json::object({{"extends", name}}), "--machine");
  Layers layers;
  layers.replace_section("machine", extend_machine(named, machines));
  return read_machine(layers, layers.value()["machine"]);
}

MachineFile read_machine_file(const std::string& file, Presets machines) {
  MachineFile read{{}, load_machine_layers(file, machines)};
  Reader(read.layers, read.layers.value(), "").read(read.machine);
  return read;
}

std::vector<InputFile> input_files(const Config& config) {
  std::vector<InputFile> found;
  const auto add = [&](const std::string& path, const Field& /*info*/, const Held& held) {
    const auto* const file = std::get_if<File>(&held);
    if (file != nullptr && !file->value.empty()) found.push_back({path, file->value});
  };
  each_value([&](Fields& fields) { config.workload->visit(fields); }, "workload", add);
  return found;
}

}  // namespace tessera::config
