#include "sim/sweep/points.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "sim/base/errors.h"

namespace tessera::sweep {
namespace {

using config::Config;
using config::Json;
using config::Layers;

Spec take_spec(Layers& base, const std::string& file, std::span<const std::string> arguments) {
  const auto found = base.value().find("sweep");
  const Json section = found == base.value().end() ? Json() : *found;
  const std::string origin = section.is_null() ? file : base.origin("sweep");
  base.remove("sweep");
  return read_spec(section, origin, arguments);
}

/// The rows of combination `index`, one after the other; the last group varies fastest.
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

}  // namespace

Sweep::Sweep(const std::string& file, std::span<const std::string> arguments,
             std::span<const std::string> sets, const Catalogue& catalogue,
             config::Presets machines)
    : name_(file == "-" ? "sweep" : std::filesystem::path(file).stem().string()),
      base_(config::load_layers(file)),
      spec_(take_spec(base_, file == "-" ? "standard input" : file, arguments)),
      catalogue_(catalogue),
      machines_(machines) {
  for (const std::string& assignment : sets) {
    base_.set(assignment);
    config::machine_name_to_extends(base_);
  }
  for (const Group& group : spec_.groups) {
    axes_.insert(axes_.end(), group.paths.begin(), group.paths.end());
    origins_.insert(origins_.end(), group.paths.size(), group.origin);
  }
}

Layers Sweep::layers(const std::vector<Json>& values) const {
  Layers layers = base_;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    layers.set(axes_[i], values[i], origins_[i]);
    config::machine_name_to_extends(layers);
  }
  return layers;
}

Config Sweep::config(const Point& point) const {
  return config::read_config(layers(point.values), name_, catalogue_, machines_);
}

bool Sweep::wanted(const Json& config) const {
  return std::all_of(spec_.where.begin(), spec_.where.end(),
                     [&](const Expression& condition) { return condition.holds(config); });
}

/// A condition may exclude what could not even be read; defaults are not known then.
bool Sweep::excluded_unread(const Layers& layers) const {
  try {
    return !wanted(layers.value());
  } catch (const UserError&) {
    return false;
  }
}

std::string Sweep::described(const std::vector<Json>& values) const {
  std::string text;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    text += fmt::format("{}{}={}", i == 0 ? "" : " ", axes_[i], config::shown(values[i]));
  }
  return text;
}

std::vector<Point> Sweep::points(PointIds& ids) const {
  std::vector<Point> points;
  const std::size_t count = combinations(spec_);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<Json> values = combination(spec_, i);
    const Layers merged = layers(values);
    try {
      const Config config = config::read_config(merged, name_, catalogue_, machines_);
      if (!wanted(config.resolved)) continue;
      points.push_back({points.size(), values, ids.of(config)});
    } catch (const ConfigError& error) {
      if (excluded_unread(merged)) continue;
      throw UserError(fmt::format("{} (the point {})", error.what(), described(values)));
    }
  }
  if (points.empty()) throw UserError(fmt::format("{}: no point meets the conditions", name_));
  return points;
}

}  // namespace tessera::sweep
