#pragma once

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "sim/config/writers.h"
#include "tests/kernels/machine_points.h"
#include "tests/kernels/points.h"

/// Draws problems and seeded machines for the kernels' points in the list `predicted`.
namespace tessera::test {

/// Draws a matrix unit's shape for each type; 0 in `outputs` means no unit for that type.
inline void draw_unit(MachinePoints& points, const std::vector<std::uint32_t>& outputs,
                      MatrixUnitConfig& unit) {
  for (MatrixShape* shape : {&unit.f16, &unit.f16_f32, &unit.f32}) {
    shape->inputs = points.one_of({8U, 16U, 32U, 64U});
    shape->outputs = outputs[points.below(outputs.size())];
    while (!shape->allowed()) shape->inputs *= 2;
    shape->interval = points.one_of({1U, 1U, 2U});
  }
}

/// True if each key of `when` has been drawn with one of its listed values.
inline bool applies(const config::Json& when, const config::Json& drawn) {
  for (const auto& [key, values] : when.items())
    if (std::find(values.begin(), values.end(), drawn.value(key, config::Json())) == values.end())
      return false;
  return true;
}

/// The point with one value drawn for each key of its `draws`: {key: values}, or
/// {key: {"when", "of"}} for keys that depend on the keys drawn before.
inline Point drawn_point(Point point, MachinePoints& points, unsigned tiles) {
  using config::Json;
  Json drawn = {{"machine.tiles", tiles}};
  for (const auto& [key, draw] : point.facts.at("draws").items()) {
    if (draw.is_object() && !applies(draw.at("when"), drawn)) continue;
    const Json& values = draw.is_object() ? draw.at("of") : draw;
    drawn[key] = values.size() == 1 ? values[0] : values[points.below(values.size())];
    point.sets.push_back(fmt::format("workload.{}={}", key, drawn[key].dump()));
  }
  return point;
}

/// One source of machines for each point; adding a point does not change those of the others.
inline std::vector<MachinePoints> machines_for(const std::vector<Point>& stated,
                                               std::uint64_t seed) {
  std::vector<MachinePoints> machines;
  machines.reserve(stated.size());
  for (const Point& point : stated) machines.emplace_back(seed, point.describe());
  return machines;
}

/// The keys of `to` whose values differ in `from`.
inline config::Json differences(const config::Json& from, const config::Json& to) {
  config::Json found = config::Json::object();
  for (const auto& [key, value] : to.items()) {
    if (from.contains(key) && from[key] == value) continue;
    found[key] = value.is_object() && from.contains(key) ? differences(from[key], value) : value;
  }
  return found;
}

}  // namespace tessera::test
