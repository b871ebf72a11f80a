#include "sim/command/validation_set.h"

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/config/key_path.h"
#include "sim/config/reader.h"

namespace tessera::command {

using config::Fields;
using config::Json;
using config::Layers;
using config::Reader;

void describe(Fields& fields, Metric& metric) {
  fields.field({"key", "dotted path of the number in report.json"}, metric.key);
  fields.field({"scale", "what the number is multiplied by"}, metric.scale);
  fields.field({"minus", "what is taken off after scaling"}, metric.minus);
  fields.field({"unit", "of the published numbers"}, metric.unit);
}

void describe(Fields& fields, Gates& gates) {
  fields.field({"each_within", "allowed relative deviation of every point"}, gates.each_within);
  fields.field({"median_low", "least median of simulated / published"}, gates.median_low);
  fields.field({"median_high", "largest median of simulated / published"}, gates.median_high);
  fields.field({"none_below", "least simulated / published of any point"}, gates.none_below);
  fields.field({"none_above", "largest simulated / published of any point"}, gates.none_above);
}

void describe(Fields& fields, ValidationPoint& point) {
  fields.field({"name", "what the table calls the point", "", true}, point.name);
  fields.field({"quick", "part of --quick"}, point.quick);
  fields.field({"published", "the published number", "", true}, point.published);
  fields.field({"within", "allowed relative deviation"}, point.within);
  fields.field({"within_absolute", "allowed deviation"}, point.within_absolute);
  fields.field({"peak_at_most", "largest fraction of peak"}, point.peak_at_most);
  fields.group({"metric", "what is compared"}, point.metric);
}

void describe(Fields& fields, ValidationSet& set) {
  fields.field({"title", "one line", "", true}, set.title);
  fields.field({"citation", "where the numbers are published", "", true}, set.citation);
  fields.group({"metric", "what is compared"}, set.metric);
  fields.group({"gates", "what fails the command"}, set.gates);
}

ValidationSet read_validation_set(const config::Preset& preset) {
  const std::string origin = fmt::format("validation set {}", preset.name);
  const Layers layers(config::parse_json(preset.text, origin), origin);
  ValidationSet set;
  set.name = preset.name;
  Reader(layers, layers.value(), "").read(set, {"base", "points"});
  set.base = layers.value().at("base");
  const Json& points = layers.value().at("points");
  for (std::size_t i = 0; i < points.size(); ++i) {
    ValidationPoint point;
    point.metric = set.metric;
    Reader(layers, points[i], config::join("points", i)).read(point, {"set"});
    point.set = points[i].value("set", Json::object());
    set.points.push_back(std::move(point));
  }
  return set;
}

config::Config point_config(const ValidationSet& set, const ValidationPoint& point,
                            const Catalogue& catalogue, config::Presets machines) {
  const std::string origin = "validation set " + set.name;
  Layers layers(set.base, origin);
  config::machine_name_to_extends(layers);
  for (const auto& [path, value] : point.set.items()) {
    layers.set(path, value, origin);
    config::machine_name_to_extends(layers);
  }
  layers.set("run.threads", 1U, "tessera validate");
  return config::read_config(layers, set.name, catalogue, machines);
}

double metric_of(const Metric& metric, const Json& report) {
  const Json* at = &report;
  for (const config::Step& step : config::parse_key_path(metric.key)) {
    const auto found = at->find(std::get<std::string>(step));
    check(found != at->end(), "validate: a report has no {}", metric.key);
    at = &*found;
  }
  return at->get<double>() * metric.scale - metric.minus;
}

}  // namespace tessera::command
