#include "sim/command/validation_set.h"

#include <algorithm>

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

void describe(Fields& fields, Regression& set) {
  fields.field({"each_within", "recorded relative deviation of every point"}, set.each_within);
  fields.field({"median_low", "recorded median of simulated / published, least"}, set.median_low);
  fields.field({"median_high", "the same, largest"}, set.median_high);
  fields.field({"none_below", "recorded simulated / published, least of any point"},
               set.none_below);
  fields.field({"none_above", "the same, largest"}, set.none_above);
  fields.field({"share_low", "recorded simulated / published of most points, least"},
               set.share_low);
  fields.field({"share_high", "the same, largest"}, set.share_high);
  fields.field({"share_least", "part of the points that are most"}, set.share_least);
  fields.field({"rank_least", "recorded rank correlation of simulated and published values"},
               set.rank_least);
  fields.field({"speedup_least", "recorded speed-up, least of any point"}, set.speedup_least);
  fields.field({"speedup_most", "the same, largest"}, set.speedup_most);
}

void describe(Fields& fields, PointRegression& point) {
  fields.field({"within", "recorded relative deviation from what is published"}, point.within);
  fields.field({"within_absolute", "recorded deviation"}, point.within_absolute);
  fields.field({"peak_at_most", "largest fraction of peak"}, point.peak_at_most);
  fields.field({"speedup_within", "recorded relative deviation of the speed-up"},
               point.speedup_within);
}

void describe(Fields& fields, Unexplained& unexplained) {
  fields.field({"amount", "in the metric's unit", "", true}, unexplained.amount);
  fields.field({"what", "what is known of it", "", true}, unexplained.what);
}

void describe(Fields& fields, PowerLaw::Exponent& exponent) {
  fields.field({"key", "path of a number in the configs", "", true}, exponent.key);
  fields.field({"published", "the published exponent", "", true}, exponent.published);
}

void describe(Fields& fields, BestOf& best) {
  fields.field({"over", "path of a number that measures the work", "", true}, best.over);
}

void describe(Fields& fields, Line& line) {
  fields.field({"name", "what the line is of", "", true}, line.name);
  fields.field({"scale", "what values are multiplied by"}, line.scale);
  fields.field({"unit", "of the slope"}, line.unit);
  fields.field({"published", "the published slope", "", true}, line.published);
}

void describe(Fields& fields, Knee& knee) {
  fields.field({"name", "what is looked at", "", true}, knee.name);
  fields.field({"within", "part of the largest value that a near one may lack"}, knee.within,
               {0, 1});
  fields.field({"published", "number at which the first value is near the largest", "", true},
               knee.published);
  fields.field({"published_most", "the largest such number, where a range is published"},
               knee.published_most);
}

void describe(Fields& fields, Crossing& crossing) {
  fields.field({"over", "number in the points' context along which speed-ups grow"}, crossing.over);
  fields.field({"least", "recorded number at which the published one is passed, least"},
               crossing.least);
  fields.field({"most", "the same, largest"}, crossing.most);
}

void describe(Fields& fields, Neighbours& neighbours) {
  fields.field({"within", "relative deviation of a change from the published one", "", true},
               neighbours.within, {0, 1});
  fields.field({"share", "recorded part of the changes that are so near", "", true},
               neighbours.share, {0, 1});
}

void describe(Fields& fields, ValidationPoint& point) {
  fields.field({"name", "what the table calls the point", "", true}, point.name);
  fields.field({"quick", "part of --quick"}, point.quick);
  fields.field({"published", "the published number; 0: none"}, point.published);
  fields.field({"fits", "false: published as too large"}, point.fits);
  fields.field({"published_speedup", "the published speed-up over the baseline"},
               point.published_speedup);
  fields.group({"regression", "how far it may move from where it was recorded"}, point.regression);
  fields.field({"why", "what makes ours faster or slower"}, point.why);
  fields.group({"metric", "what is compared"}, point.metric);
  fields.require(!point.fits || point.published != 0 || !fields.given("published"), "published",
                 "found 0, allowed another number: it is what is divided by");
  fields.require(point.regression.speedup_within == 0 || point.published_speedup > 0,
                 "regression.speedup_within", "stands without published_speedup");
}

void describe(Fields& fields, PowerLaw& fit) {
  fields.field({"best_over", "key over which the best points are taken"}, fit.best_over);
}

void describe(Fields& fields, ValidationSet& set) {
  fields.field({"title", "one line", "", true}, set.title);
  fields.field({"evidence", "what stands behind the published numbers", "", true}, set.evidence,
               evidence_names());
  fields.field({"citation", "where the numbers are published", "", true}, set.citation);
  fields.field({"shortfall", "why it does not reproduce what is published; empty: it should"},
               set.shortfall);
  fields.field({"why", "what makes ours faster or slower"}, set.why);
  fields.group({"metric", "what is compared"}, set.metric);
  fields.optional_group({"unexplained", "what the published numbers hold of unknown origin"},
                        set.unexplained.given, set.unexplained);
  fields.group({"regression", "where the set was recorded"}, set.regression);
  fields.group({"crossing", "where published speed-ups are passed"}, set.crossing);
}

namespace {

constexpr std::string_view kObject = "an object {...}";
constexpr std::string_view kList = "a list [...]";

/// The part of a file of which no struct tells the form.
class Part {
 public:
  Part(const Layers& layers, const Json& value, std::string path)
      : layers_(layers), value_(value), path_(std::move(path)) {}

  /// The object at `key`, or an empty one. Throws ConfigError for another kind.
  [[nodiscard]] Json object(const std::string& key) const {
    Json value = value_.value(key, Json::object());
    if (!value.is_object()) wrong(key, value, kObject);
    return value;
  }
  [[nodiscard]] Json list(const std::string& key) const {
    Json value = value_.value(key, Json::array());
    if (!value.is_array()) wrong(key, value, kList);
    return value;
  }
  [[nodiscard]] std::vector<std::string> texts(const std::string& key) const {
    std::vector<std::string> texts;
    for (const Json& value : list(key)) {
      if (!value.is_string()) wrong(config::join(key, texts.size()), value, "a text");
      texts.push_back(value.get<std::string>());
    }
    return texts;
  }
  void require(const std::string& key) const {
    if (value_.contains(key)) return;
    throw ConfigError(layers_.origin(path_), config::join(path_, key), "not given, but required");
  }

 private:
  [[noreturn]] void wrong(const std::string& key, const Json& found,
                          std::string_view allowed) const {
    throw ConfigError(layers_.origin(path_), config::join(path_, key),
                      fmt::format("found {}, allowed {}", config::shown(found), allowed));
  }

  const Layers& layers_;
  const Json& value_;
  std::string path_;
};

Baseline read_baseline(const Layers& layers, const Json& value) {
  Reader(layers, value, "baseline").read_members([](Fields&) {}, {"config", "same"});
  const Part part(layers, value, "baseline");
  part.require("config");
  return {part.object("config"), part.texts("same")};
}

BestOf read_best(const Layers& layers, const Json& value, const std::string& point) {
  const std::string path = config::join(point, "best");
  BestOf best;
  Reader(layers, value, path).read(best, {"values"});
  const Part part(layers, value, path);
  part.require("values");
  for (const Json& at : part.list("values")) best.values.push_back(at);
  return best;
}

PowerLaw read_fit(const Layers& layers, const Json& value) {
  PowerLaw fit;
  Reader(layers, value, "fit").read(fit, {"exponents", "baseline_values"});
  const Part part(layers, value, "fit");
  for (const Json& at : part.list("baseline_values")) fit.baseline_values.push_back(at);
  const Json exponents = part.list("exponents");
  for (std::size_t i = 0; i < exponents.size(); ++i) {
    PowerLaw::Exponent exponent;
    Reader(layers, exponents[i], config::join("fit.exponents", i)).read(exponent);
    fit.exponents.push_back(std::move(exponent));
  }
  return fit;
}

/// Names of points and a number for each.
template <class Compared>
Compared read_compared(const Layers& layers, const Json& value, const std::string& path,
                       const std::vector<ValidationPoint>& points) {
  Compared read;
  Reader(layers, value, path).read(read, {"points", "at"});
  const Part part(layers, value, path);
  read.points = part.texts("points");
  for (const Json& at : part.list("at")) read.at.push_back(at.get<double>());
  for (const std::string& name : read.points)
    if (std::ranges::find(points, name, &ValidationPoint::name) == points.end())
      throw ConfigError(layers.origin(path), config::join(path, "points"),
                        fmt::format("found {}, allowed the name of a point", name));
  constexpr std::size_t kLeast = 3;
  if (read.points.size() < kLeast || read.at.size() != read.points.size())
    throw ConfigError(layers.origin(path), config::join(path, "at"),
                      fmt::format("found {} numbers for {} points, allowed one each, {} or more",
                                  read.at.size(), read.points.size(), kLeast));
  return read;
}

Neighbours read_neighbours(const Layers& layers, const Json& value) {
  Neighbours neighbours;
  Reader(layers, value, "neighbours").read(neighbours, {"over", "same"});
  const Part part(layers, value, "neighbours");
  part.require("over");
  neighbours.over = part.texts("over");
  neighbours.same = part.texts("same");
  return neighbours;
}

/// Some points must have the number.
void require_known(const Layers& layers, const ValidationSet& set) {
  const std::string& over = set.crossing.over;
  if (over.empty()) return;
  const auto has = [&](const ValidationPoint& point) {
    return context_number(point, over).has_value();
  };
  if (std::ranges::any_of(set.points, has)) return;
  throw ConfigError(layers.origin("crossing"), "crossing.over",
                    fmt::format("found {}, allowed the name of a number in points' context", over));
}

config::Config finished(Layers layers, const std::string& name, const Catalogue& catalogue,
                        config::Presets machines) {
  config::machine_name_to_extends(layers);
  layers.set("run.threads", 1U, "tessera validate");
  config::Config config = config::read_config(layers, name, catalogue, machines);
  config::refuse_run_files(config);
  return config;
}

}  // namespace

ValidationSet read_validation_set(const config::Preset& preset) {
  return read_validation_set(preset, fmt::format("validation set {}", preset.name));
}

ValidationSet read_validation_set(const config::Preset& preset, const std::string& origin) {
  const Layers layers(config::parse_json(preset.text, origin), origin);
  ValidationSet set;
  set.name = preset.name;
  const Json& value = layers.value();
  Reader(layers, value, "")
      .read(set, {"base", "points", "baseline", "axes", "columns", "fit", "lines", "knees",
                  "neighbours"});
  const Part whole(layers, value, "");
  for (const char* key : {"base", "points"}) whole.require(key);
  set.base = whole.object("base");
  set.axes = whole.texts("axes");
  set.columns = whole.texts("columns");
  if (value.contains("fit")) set.fit = read_fit(layers, value.at("fit"));
  if (value.contains("neighbours"))
    set.neighbours = read_neighbours(layers, value.at("neighbours"));
  if (value.contains("baseline")) set.baseline = read_baseline(layers, value.at("baseline"));
  const Json points = whole.list("points");
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string path = config::join("points", i);
    ValidationPoint point;
    point.metric = set.metric;
    point.unexplained = set.unexplained.amount;
    Reader(layers, points[i], path).read(point, {"set", "baseline", "context", "best"});
    const Part part(layers, points[i], path);
    point.set = part.object("set");
    point.baseline = part.object("baseline");
    point.context = part.object("context");
    if (points[i].contains("best")) point.best = read_best(layers, points[i].at("best"), path);
    set.points.push_back(std::move(point));
  }
  const Json lines = whole.list("lines");
  for (std::size_t i = 0; i < lines.size(); ++i)
    set.lines.push_back(
        read_compared<Line>(layers, lines[i], config::join("lines", i), set.points));
  const Json knees = whole.list("knees");
  for (std::size_t i = 0; i < knees.size(); ++i)
    set.knees.push_back(
        read_compared<Knee>(layers, knees[i], config::join("knees", i), set.points));
  require_known(layers, set);
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
  return finished(std::move(layers), set.name, catalogue, machines);
}

Json baseline_of(const ValidationSet& set, const ValidationPoint& point) {
  Json config = set.baseline.config;
  for (const std::string& key : set.baseline.same) {
    config::set_at(config, key, value_of(set, point, key));
  }
  for (const auto& [key, value] : point.baseline.items()) config::set_at(config, key, value);
  return config;
}

config::Config baseline_config(const ValidationSet& set, const Json& baseline,
                               const Catalogue& catalogue, config::Presets machines) {
  return finished(Layers(baseline, "baseline of " + set.name), set.name, catalogue, machines);
}

Json value_of(const ValidationSet& set, const ValidationPoint& point, const std::string& key) {
  if (point.set.contains(key)) return point.set.at(key);
  const Json* const at = find_at(set.base, key);
  return at == nullptr ? nullptr : *at;
}

std::optional<double> context_number(const ValidationPoint& point, const std::string& name) {
  const auto found = point.context.find(name);
  if (found == point.context.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

const Json* find_at(const Json& root, const std::string& path) {
  const Json* at = &root;
  for (const config::Step& step : config::parse_key_path(path)) {
    const auto* name = std::get_if<std::string>(&step);
    if (name == nullptr || !at->is_object() || !at->contains(*name)) return nullptr;
    at = &at->at(*name);
  }
  return at;
}

double metric_of(const Metric& metric, const Json& report) {
  const Json* const at = find_at(report, metric.key);
  if (at == nullptr || !at->is_number())
    throw KeyError("metric.key",
                   fmt::format("found {}, allowed a number's path in report.json", metric.key));
  return at->get<double>() * metric.scale - metric.minus;
}

}  // namespace tessera::command
