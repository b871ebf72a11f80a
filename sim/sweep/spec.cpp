#include "sim/sweep/spec.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/config/key_path.h"
#include "sim/config/nearest.h"
#include "sim/data/random.h"
#include "sim/sweep/values.h"

namespace tessera::sweep {
namespace {

using config::shown;

/// A part of the section `sweep` and its place.
struct Part {
  const Json& value;
  const std::string& file;
  std::string path;

  [[noreturn]] void wrong(const std::string& problem) const {
    throw ConfigError(file, path, problem);
  }
  [[noreturn]] void not_allowed(const std::string& allowed) const {
    wrong(fmt::format("found {}, allowed {}", shown(value), allowed));
  }
  [[nodiscard]] Part at(const std::string& key) const {
    return {value.at(key), file, config::join(path, key)};
  }
  [[nodiscard]] Part at(std::size_t element) const {
    return {value.at(element), file, config::join(path, element)};
  }
  void need_keys() const {
    if (!value.is_object() || value.empty()) not_allowed("an object {key path: values, ...}");
  }
};

bool is_note(const std::string& key) { return key.starts_with("//"); }

void refuse_unknown(const Part& part, std::initializer_list<std::string_view> known) {
  const std::span<const std::string_view> names(known.begin(), known.size());
  for (const auto& [key, value] : part.value.items()) {
    if (is_note(key) || contains(names, key)) continue;
    part.at(key).wrong(
        fmt::format("found an unknown key, allowed {}", config::names_near(key, names)));
  }
}

/// A list of values, a text as on the command line, or a single value.
std::vector<Json> values_of(const Part& part) {
  if (part.value.is_string()) {
    return parse_values(part.value.get<std::string>(), fmt::format("{}: {}", part.file, part.path));
  }
  if (!part.value.is_array()) return {part.value};
  if (part.value.empty()) part.not_allowed("at least one value");
  return {part.value.begin(), part.value.end()};
}

/// Throws UserError if two rows are equal: tables and figures would hold their points twice.
Group without_repeats(Group group) {
  std::set<std::vector<Json>> seen;
  for (const std::vector<Json>& row : group.rows)
    if (!seen.insert(row).second)
      throw UserError("{}: {}: found {} twice, allowed once", group.origin,
                      fmt::join(group.paths, ", "), fmt::join(mapped(row, shown), ", "));
  return group;
}

Group axis(const std::string& path, std::vector<Json> values, std::string origin) {
  Group group{{path}, {}, std::move(origin)};
  for (Json& value : values) group.rows.push_back({std::move(value)});
  return without_repeats(std::move(group));
}

void read_grid(const Part& part, Spec& spec) {
  part.need_keys();
  for (const auto& [path, value] : part.value.items()) {
    if (!is_note(path)) spec.groups.push_back(axis(path, values_of(part.at(path)), part.file));
  }
}

void read_zip(const Part& part, Spec& spec) {
  part.need_keys();
  Group group{{}, {}, part.file};
  for (const auto& [path, value] : part.value.items()) {
    if (is_note(path)) continue;
    std::vector<Json> values = values_of(part.at(path));
    if (group.paths.empty()) group.rows.resize(values.size());
    if (values.size() != group.rows.size()) {
      part.at(path).wrong(fmt::format("found {} values, allowed {} as {} has", values.size(),
                                      group.rows.size(), group.paths.front()));
    }
    group.paths.push_back(path);
    for (std::size_t i = 0; i < values.size(); ++i) group.rows[i].push_back(std::move(values[i]));
  }
  spec.groups.push_back(without_repeats(std::move(group)));
}

void read_list(const Part& part, Spec& spec) {
  if (!part.value.is_array() || part.value.empty()) part.not_allowed("a list of objects");
  Group group{{}, {}, part.file};
  for (std::size_t i = 0; i < part.value.size(); ++i) {
    const Part row = part.at(i);
    row.need_keys();
    std::vector<std::string> paths;
    for (const auto& [path, value] : row.value.items()) paths.push_back(path);
    if (i == 0) group.paths = paths;
    std::vector<Json>& values = group.rows.emplace_back();
    for (const std::string& path : group.paths) {
      if (!row.value.contains(path)) row.wrong(fmt::format("has no {}, as the first has", path));
      values.push_back(row.value[path]);
    }
    if (paths.size() != group.paths.size()) row.wrong("has keys that the first has not");
  }
  spec.groups.push_back(without_repeats(std::move(group)));
}

std::uint64_t count_of(const Part& part, std::uint64_t low, std::uint64_t high) {
  const bool fits = part.value.is_number_unsigned() && part.value.get<std::uint64_t>() >= low &&
                    part.value.get<std::uint64_t>() <= high;
  if (!fits) part.not_allowed(fmt::format("an integer from {} to {}", low, high));
  return part.value.get<std::uint64_t>();
}

/// Draws `count` values of one axis; each axis has its own random stream.
std::vector<Json> draws(const Part& part, std::size_t count, std::uint64_t seed,
                        std::uint64_t stream) {
  std::vector<Json> drawn;
  std::vector<Json> choices;
  std::optional<Range> range;
  if (part.value.is_string()) {
    range = parse_range(part.value.get<std::string>(), fmt::format("{}: {}", part.file, part.path));
  }
  const bool computed =
      range && (range->kind == Range::Kind::plain || range->kind == Range::Kind::logarithmic);
  if (!computed) choices = values_of(part);
  for (std::size_t i = 0; i < count; ++i) {
    if (computed) {
      const std::uint64_t bits = data::random_bits(seed, stream, i) >> 11;
      drawn.push_back(range->at(std::ldexp(static_cast<double>(bits), -53)));
    } else {
      drawn.push_back(choices[data::random_below(seed, stream, i, choices.size())]);
    }
  }
  return drawn;
}

void read_random(const Part& part, Spec& spec) {
  if (!part.value.is_object()) part.not_allowed("an object {points, seed, axes}");
  refuse_unknown(part, {"points", "seed", "axes"});
  for (const char* needed : {"points", "axes"}) {
    if (!part.value.contains(needed)) part.wrong(fmt::format("has no {}", needed));
  }
  const std::uint64_t points = count_of(part.at("points"), 1, 1'000'000);
  const std::uint64_t seed =
      part.value.contains("seed")
          ? count_of(part.at("seed"), 0, std::numeric_limits<std::uint64_t>::max())
          : 1;
  const Part axes = part.at("axes");
  axes.need_keys();
  Group group{{}, std::vector<std::vector<Json>>(points), part.file};
  for (const auto& [path, value] : axes.value.items()) {
    if (is_note(path)) continue;
    std::vector<Json> drawn = draws(axes.at(path), points, seed, group.paths.size());
    group.paths.push_back(path);
    for (std::size_t i = 0; i < points; ++i) group.rows[i].push_back(std::move(drawn[i]));
  }
  spec.groups.push_back(std::move(group));
}

void read_where(const Part& part, Spec& spec) {
  const bool many = part.value.is_array();
  for (std::size_t i = 0; i < (many ? part.value.size() : 1); ++i) {
    const Part each = many ? part.at(i) : part;
    if (!each.value.is_string()) each.not_allowed("a condition, for example \"workload.m <= 64\"");
    spec.where.emplace_back(each.value.get<std::string>(),
                            fmt::format("{}: {}", each.file, each.path));
  }
}

void read_section(const Part& part, Spec& spec) {
  if (!part.value.is_object()) part.not_allowed("an object {grid, zip, list, random, where}");
  refuse_unknown(part, {"grid", "zip", "list", "random", "where"});
  const std::pair<const char*, void (*)(const Part&, Spec&)> readers[] = {{"grid", read_grid},
                                                                          {"zip", read_zip},
                                                                          {"list", read_list},
                                                                          {"random", read_random},
                                                                          {"where", read_where}};
  for (const auto& [key, read] : readers) {
    if (part.value.contains(key)) read(part.at(key), spec);
  }
}

/// An axis of the command line replaces one with its path in each part that has it; if no part has
/// it, all parts get it.
void read_argument(const std::string& argument, std::vector<Spec>& specs) {
  const std::string origin = "tessera sweep";
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw UserError("{}: found {}, allowed path=a,b,c or path=low..high*factor", origin, argument);
  }
  const std::string path = argument.substr(0, equals);
  const Group given =
      axis(path, parse_values(argument.substr(equals + 1), origin + ": " + path), origin);
  bool known = false;
  for (Spec& spec : specs) {
    for (Group& each : spec.groups) {
      if (each.paths != given.paths || each.origin == origin) continue;
      each = given;
      known = true;
    }
  }
  if (known) return;
  for (Spec& spec : specs) spec.groups.push_back(given);
}

void refuse_double_paths(const Spec& spec) {
  const std::vector<std::string> paths = spec.paths();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (std::find(paths.begin(), paths.begin() + static_cast<std::ptrdiff_t>(i), paths[i]) ==
        paths.begin() + static_cast<std::ptrdiff_t>(i)) {
      continue;
    }
    throw UserError("{}: {}: is varied twice", spec.origins()[i], paths[i]);
  }
}

}  // namespace

std::vector<std::string> Spec::paths() const {
  std::vector<std::string> all;
  for (const Group& group : groups) all.insert(all.end(), group.paths.begin(), group.paths.end());
  return all;
}

std::vector<std::string> Spec::origins() const {
  std::vector<std::string> all;
  for (const Group& group : groups) all.insert(all.end(), group.paths.size(), group.origin);
  return all;
}

std::vector<Spec> read_specs(const Json& section, const std::string& origin,
                             std::span<const std::string> arguments) {
  const Part whole{section, origin, "sweep"};
  if (section.is_array() && section.empty()) whole.not_allowed("at least one object");
  std::vector<Spec> specs(section.is_array() ? section.size() : 1);
  for (std::size_t i = 0; i < specs.size() && !section.is_null(); ++i) {
    read_section(section.is_array() ? whole.at(i) : whole, specs[i]);
  }
  for (const std::string& argument : arguments) read_argument(argument, specs);
  for (const Spec& spec : specs) {
    if (spec.groups.empty()) {
      throw UserError(
          "{}: has no section sweep, and the command line no axis; for example "
          "workload.n=16..256*2",
          origin);
    }
    refuse_double_paths(spec);
  }
  return specs;
}

std::size_t combinations(const Spec& spec) {
  constexpr double kMost = 1e6;
  double all = 1;
  for (const Group& group : spec.groups) all *= static_cast<double>(group.rows.size());
  if (all > kMost) {
    throw UserError("the sweep has {:.3g} points, allowed {:.0f}", all, kMost);
  }
  return static_cast<std::size_t>(all);
}

}  // namespace tessera::sweep
