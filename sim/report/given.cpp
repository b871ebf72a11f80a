#include "sim/report/given.h"

#include <functional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/config/key_path.h"
#include "sim/config/writers.h"

namespace tessera::report {

using Json = nlohmann::ordered_json;

namespace {

/// Calls `use` with the key path of each value in it, except groups and notes.
void each_key(const Json& value, const std::string& path,
              const std::function<void(const std::string&)>& use) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items())
      if (!key.starts_with("//")) each_key(inner, config::join(path, key), use);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) each_key(value[i], config::join(path, i), use);
  } else {
    use(path);
  }
}

bool is_of_preset(const config::Layers& layers, const std::string& path) {
  return layers.origin(path).starts_with("preset ");
}

}  // namespace

std::vector<std::string> given_keys(const config::Config& config) {
  std::vector<std::string> keys;
  each_key(config.layers.value().at("machine"), "machine", [&](const std::string& path) {
    if (!is_of_preset(config.layers, path)) keys.push_back(path);
  });
  return keys;
}

std::string defaults_line(const config::Layers& layers, const MachineConfig& machine) {
  std::set<std::string> given;
  bool extends = false;
  each_key(layers.value(), "", [&](const std::string& path) {
    given.insert(path);
    extends |= is_of_preset(layers, path);
  });
  if (extends) return "";
  std::size_t all = 0, defaults = 0;
  each_key(config::resolved(machine), "", [&](const std::string& path) {
    ++all;
    defaults += given.contains(path) ? 0 : 1;
  });
  if (defaults == 0) return "";
  return fmt::format(
      "  {:<9} {} of {} keys of the machine, which extends no preset (tessera explain "
      "machine.KEY)\n",
      "defaults", defaults, all);
}

std::string pinned_line(const config::Config& config, const Json& report) {
  const Json workload = config.layers.value().at("workload");
  const Json given = workload.value("plan", Json());
  if (!given.is_object()) return "";
  const Json& resolved = config.resolved.at("workload").at("plan");
  std::vector<std::string> pinned, defaults;
  for (const auto& [key, value] : report.at("plan").items()) {
    if (given.contains(key))
      pinned.push_back(key);
    else if (!value.is_structured() && resolved.value(key, Json()) == value)
      defaults.push_back(
          fmt::format("{} {}", key, value.is_string() ? value.get<std::string>() : value.dump()));
  }
  if (pinned.empty() || defaults.empty()) return "";
  return fmt::format("  {:<9} {}; by default {}\n", "pinned", fmt::join(pinned, ", "),
                     fmt::join(defaults, ", "));
}

}  // namespace tessera::report
