#include "sim/command/choices.h"

#include <functional>
#include <set>

#include <fmt/format.h>

#include "sim/base/ranges.h"
#include "sim/config/key_path.h"

namespace tessera::command {
namespace {

using config::Json;
using Visit = std::function<void(const std::string& path, const Json& schema)>;

/// Calls `visit` with every key of an object's schema, including those of alternatives.
void each_key(const Json& schema, const std::string& path, const Visit& visit) {
  for (const char* alternatives : {"anyOf", "oneOf"}) {
    if (!schema.contains(alternatives)) continue;
    for (const Json& each : schema[alternatives]) each_key(each, path, visit);
  }
  if (!schema.contains("properties")) return;
  for (const auto& [key, inner] : schema["properties"].items()) {
    const std::string inner_path = config::join(path, key);
    visit(inner_path, inner);
    each_key(inner, inner_path, visit);
  }
}

void each_key(const Simulator& simulator, const Visit& visit) {
  each_key(config::config_schema(simulator.catalogue, simulator.machines), "", visit);
}

bool is_section(const Json& schema) {
  return schema.contains("properties") || schema.contains("anyOf") || schema.contains("oneOf");
}

}  // namespace

std::vector<std::string> names_of(config::Presets presets) {
  return mapped(presets, [](const config::Preset& preset) { return std::string(preset.name); });
}

Option choosing_key(Option option, std::string path, const Simulator& simulator) {
  return choosing(std::move(option), [path = std::move(path), &simulator] {
    std::vector<std::string> choices;
    each_key(simulator, [&](const std::string& at, const Json& schema) {
      if (at != path || !schema.contains("enum")) return;
      for (const Json& each : schema["enum"])
        if (each.is_string()) choices.push_back(each.get<std::string>());
    });
    return choices;
  });
}

Option with_keys(Option option, const Simulator& simulator) {
  return choosing(std::move(option), [&simulator] {
    std::set<std::string> paths = {"machine="};  // a preset's name
    each_key(simulator, [&](const std::string& path, const Json& schema) {
      if (!is_section(schema) && !path.ends_with("extends")) paths.insert(path + "=");
    });
    return std::vector<std::string>(paths.begin(), paths.end());
  });
}

Option set_option(std::vector<std::string>* sets, const Simulator& simulator) {
  return with_keys({"--set", sets, "path=value: set a key, for example workload.n=64"}, simulator);
}

void OptionSets::add(const std::string& option, const std::string& path, const std::string& value) {
  refuse_other(option, path, value);
  options_.push_back({option, path, value});
}

void OptionSets::add_key(const std::string& option, const std::string& path,
                         const std::string& value) {
  if (value.empty()) return;
  refuse_other(option, path, value);
  options_.push_back({fmt::format("{} {}", option, value), path, value});
}

std::vector<std::string> OptionSets::all() const {
  std::vector<std::string> sets = sets_;
  for (const auto& [option, path, value] : options_)
    sets.push_back(fmt::format("{}={}", path, value));
  return sets;
}

void OptionSets::refuse_other(std::string_view option, const std::string& path,
                              const std::string& value) const {
  for (const std::string& each : sets_)
    if (each.starts_with(path + "=") && each.substr(path.size() + 1) != value)
      throw UserError("{}: found beside --set {}, allowed one of them", option, each);
}

}  // namespace tessera::command
