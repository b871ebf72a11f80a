#include <algorithm>
#include <filesystem>
#include <vector>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/config/layers.h"
#include "sim/config/nearest.h"
#include "sim/config/writers.h"
#include "sim/machine/machine_config.h"

namespace tessera::config {
namespace {

namespace fs = std::filesystem;

/// The files being extended, outermost first.
using Chain = std::vector<std::string>;

void refuse_cycle(const Chain& chain, const std::string& next, const std::string& path) {
  if (!contains(chain, next)) return;
  throw ConfigError(chain.back(), path, "extends {}, which extends this file in turn", next);
}

/// True if the value has top-level keys that only machine files have.
bool has_machine_keys(const Json& value) {
  constexpr std::string_view kRunSections[] = {"machine", "workload", "run", "report", "sweep"};
  for (const std::string_view section : kRunSections)
    if (value.contains(section)) return false;
  MachineConfig machine;
  const Json keys = resolved([&](Fields& fields) { describe(fields, machine); });
  const auto items = value.items();
  return std::ranges::any_of(
      items, [&](const auto& item) { return keys.contains(item.key()) || item.key() == "energy"; });
}

Layers parse_object(std::string_view text, const std::string& origin) {
  Json value = parse_json(text, origin);
  if (!value.is_object()) {
    throw ConfigError(origin, "", "found {}, allowed an object {{...}}", shown(value));
  }
  return {std::move(value), origin};
}

/// Refuses a machine file, even one that extends others.
void refuse_machine(const Json& value, const std::string& file) {
  if (!has_machine_keys(value)) return;
  throw ConfigError(file, "",
                    "found a machine, allowed a run, which has one: {{\"machine\": "
                    "\"{}\", \"workload\": {{\"kernel\": ...}}}}",
                    file);
}

std::string beside(const std::string& origin, const std::string& name) {
  if (fs::path(name).is_absolute()) return name;
  return (fs::path(origin).parent_path() / name).lexically_normal().string();
}

std::string extends_of(const Layers& layers, const std::string& path) {
  const Json& name = layers.value()["extends"];
  if (!name.is_string()) {
    throw ConfigError(layers.origin("extends"), path,
                      "found {}, allowed the name of a file or preset", shown(name));
  }
  return name.get<std::string>();
}

Layers load_chain(const std::string& file, Chain& chain) {
  const std::string origin = file == "-" ? "standard input" : file;
  Layers layers = parse_object(read_text(file), origin);
  refuse_machine(layers.value(), origin);
  machine_name_to_extends(layers);
  if (!layers.value().contains("extends")) return layers;
  chain.push_back(file);
  const std::string name = beside(file == "-" ? "" : file, extends_of(layers, "extends"));
  refuse_cycle(chain, name, "extends");
  if (!fs::exists(name)) {
    throw ConfigError(file, "extends", "found {}, which does not exist", name);
  }
  Layers base = load_chain(name, chain);
  layers.remove("extends");
  const Layers machine = layers.section("machine");
  if (machine.value().is_object() && machine.value().contains("extends")) base.remove("machine");
  base.merge(layers);
  return base;
}

/// Parses a machine and drops the keys that only editors read.
Layers parse_machine(std::string_view text, const std::string& origin) {
  Layers layers = parse_object(text, origin);
  layers.remove("$schema");
  return layers;
}

/// The machine that `extends` names: a preset or a file.
Layers machine_named(const std::string& name, const Layers& by, Presets presets,
                     const std::string& path) {
  for (const Preset& preset : presets) {
    if (preset.name == name) return parse_machine(preset.text, "preset " + name);
  }
  const std::string& origin = by.origin("extends");
  const std::string file = beside(origin.starts_with("--") ? "" : origin, name);
  if (fs::exists(file)) return parse_machine(read_text(file), file);
  std::vector<std::string_view> names;
  for (const Preset& preset : presets) names.push_back(preset.name);
  throw ConfigError(origin, path, "found \"{}\", allowed a preset ({}) or a file that exists{}",
                    name, list_of(names), did_you_mean(name, names));
}

/// `path`: key path of the machine's `extends` in its file.
Layers extend_chain(const Layers& machine, Presets presets, Chain& chain, const std::string& path) {
  if (!machine.value().is_object() || !machine.value().contains("extends")) return machine;
  Layers own = machine;
  const std::string name = extends_of(own, path);
  Layers base = machine_named(name, own, presets, path);
  const std::string origin = base.origin("");
  chain.push_back(own.origin("extends"));
  refuse_cycle(chain, origin, path);
  base = extend_chain(base, presets, chain, "extends");
  own.remove("extends");
  base.merge(own);
  return base;
}

}  // namespace

void machine_name_to_extends(Layers& layers) {
  const auto machine = layers.value().find("machine");
  if (machine == layers.value().end() || !machine->is_string()) return;
  Json extends = Json::object({{"extends", *machine}});
  layers.replace_section("machine", Layers(std::move(extends), layers.origin("machine")));
}

Layers load_layers(const std::string& file) {
  Chain chain;
  return load_chain(file == "-" ? file : fs::path(file).lexically_normal().string(), chain);
}

Layers extend_machine(const Layers& machine, Presets presets) {
  Chain chain;
  return extend_chain(machine, presets, chain, "machine.extends");
}

bool is_machine_file(const std::string& file, Presets presets) {
  if (file == "-") return false;
  const Json value = parse_json(read_text(file), file);
  if (!value.is_object()) return false;
  if (has_machine_keys(value)) return true;
  // A machine whose only own key is misspelled, recognised by its preset.
  const auto extends = value.find("extends");
  if (extends == value.end() || !extends->is_string() || fs::exists(beside(file, *extends)))
    return false;
  return std::ranges::any_of(presets,
                             [&](const Preset& preset) { return preset.name == *extends; });
}

Layers load_machine_layers(const std::string& file, Presets presets) {
  Chain chain;
  const std::string name = fs::path(file).lexically_normal().string();
  return extend_chain(parse_machine(read_text(name), name), presets, chain, "extends");
}

}  // namespace tessera::config
