#include "sim/sweep/points.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/config/key_path.h"
#include "sim/sweep/sha256.h"

namespace tessera::sweep {
namespace {

using config::Config;
using config::Json;
using config::Layers;

std::vector<Spec> take_specs(Layers& base, const std::string& file,
                             std::span<const std::string> arguments) {
  const auto found = base.value().find("sweep");
  const Json section = found == base.value().end() ? Json() : *found;
  const std::string origin = section.is_null() ? file : base.origin("sweep");
  base.remove("sweep");
  return read_specs(section, origin, arguments);
}

/// The values of combination `index`, all groups' rows joined; the last group varies fastest.
std::vector<Json> combination(const Spec& spec, std::size_t index) {
  std::vector<const std::vector<Json>*> rows;
  for (auto group = spec.groups.rbegin(); group != spec.groups.rend(); ++group) {
    rows.push_back(&group->rows[index % group->rows.size()]);
    index /= group->rows.size();
  }
  std::vector<Json> values;
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    values.insert(values.end(), (*row)->begin(), (*row)->end());
  }
  return values;
}

bool wanted(const Spec& spec, const Json& config) {
  return std::ranges::all_of(spec.where,
                             [&](const Expression& condition) { return condition.holds(config); });
}

/// True if the given values alone exclude a point; such a point is not read, and may be unreadable.
/// Defaults are not known here.
bool excluded_unread(const Spec& spec, const Layers& layers) {
  try {
    return !wanted(spec, layers.value());
  } catch (const UserError&) {
    return false;
  }
}

/// Refuses axes in `report`: their points would not differ.
void refuse_report(const std::string& path, const std::string& origin) {
  if (path != "report" && !path.starts_with("report.")) return;
  throw ConfigError(origin, path,
                    "found an axis, allowed keys of machine, workload and run: tessera run alone "
                    "writes the files that it is about");
}

/// "workload.m=4 workload.n=8"
std::string described(const std::vector<std::string>& paths, const std::vector<Json>& values) {
  std::string text;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    text += fmt::format("{}{}={}", i == 0 ? "" : " ", paths[i], config::shown(values[i]));
  }
  return text;
}

}  // namespace

std::string identity_of(std::span<const Point> points) {
  Sha256 hash;
  for (const Point& point : points) hash.add(point.id);
  return hash.finish();
}

Sweep::Sweep(const std::string& file, std::span<const std::string> arguments,
             std::span<const std::string> sets, const Catalogue& catalogue,
             config::Presets machines)
    : name_(file == "-" ? "sweep" : std::filesystem::path(file).stem().string()),
      base_(config::load_layers(file)),
      catalogue_(catalogue),
      machines_(machines) {
  for (Spec& spec : take_specs(base_, file == "-" ? "standard input" : file, arguments)) {
    std::vector<std::string> paths = spec.paths();
    std::vector<std::string> origins = spec.origins();
    for (std::size_t i = 0; i < paths.size(); ++i) refuse_report(paths[i], origins[i]);
    for (const std::string& path : paths) {
      if (!contains(axes_, path)) axes_.push_back(path);
    }
    parts_.push_back({std::move(spec), std::move(paths), std::move(origins)});
  }
  for (const std::string& assignment : sets) base_.set(assignment);
  extend_base();
}

bool Sweep::always_varies(const std::string& path) const {
  return !parts_.empty() &&
         std::ranges::all_of(parts_, [&](const Part& part) { return contains(part.paths, path); });
}

/// Resolves the machine once if all points share it.
void Sweep::extend_base() {
  const bool varies = std::ranges::any_of(axes_, [](const std::string& path) {
    return path == "machine" || path == "machine.extends";
  });
  if (varies || !base_.value().contains("machine")) return;
  base_.replace_section("machine", config::extend_machine(base_.section("machine"), machines_));
  base_.set_waiting();
}

Layers Sweep::layers(const Part& part, const Values& values) const {
  Layers layers = base_;
  for (std::size_t i = 0; i < part.paths.size(); ++i)
    layers.set(part.paths[i], values[i], part.origins[i]);
  return layers;
}

Config Sweep::config(const Point& point) const {
  return config::read_config(layers(parts_[point.part], point.values), name_, catalogue_,
                             machines_);
}

Json Sweep::axes_of(const Point& point) const {
  Json axes = Json::object();
  const std::vector<std::string>& paths = parts_[point.part].paths;
  for (std::size_t i = 0; i < paths.size(); ++i) axes[paths[i]] = point.values[i];
  return axes;
}

std::string Sweep::name_of(const Point& point) const {
  return described(parts_[point.part].paths, point.values);
}

/// True if the conditions allow the point; then sets its id and config hash.
bool Sweep::is_point(const Part& part, const Values& values, PointIds& ids, Point& point) const {
  const Layers merged = layers(part, values);
  if (excluded_unread(part.spec, merged)) return false;
  try {
    const Config config = config::read_config(merged, name_, catalogue_, machines_);
    config::refuse_same_keys(config.resolved, part.paths);
    if (!wanted(part.spec, config.resolved)) return false;
    config::refuse_run_files(config);
    point.id = ids.of(config);
    point.config = config::config_hash(config.resolved);
    return true;
  } catch (const UserError& error) {
    throw UserError("{} (the point {})", error.what(), described(part.paths, values));
  }
}

std::vector<Point> Sweep::points(PointIds& ids, const Looked& looked,
                                 const Refused& refused) const {
  std::vector<Point> points;
  bool refused_some = false;
  std::size_t all = 0, seen = 0;
  for (const Part& part : parts_) all += combinations(part.spec);
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const std::size_t count = combinations(parts_[p].spec);
    for (std::size_t i = 0; i < count; ++i) {
      if (looked) looked(seen++, all);
      Values values = combination(parts_[p].spec, i);
      Point point{points.size(), p, {}, {}, {}};
      try {
        if (!is_point(parts_[p], values, ids, point)) continue;
      } catch (const UserError& why) {
        if (!refused) throw;
        refused(why);
        refused_some = true;
        continue;
      }
      point.values = std::move(values);
      points.push_back(std::move(point));
    }
  }
  if (points.empty() && !refused_some) throw UserError("{}: no point meets the conditions", name_);
  return points;
}

}  // namespace tessera::sweep
