#include "sim/command/validation_set.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"
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
  fields.any_list({"values", "of that number, at each of which the point is run", "", true},
                  best.values);
}

void describe(Fields& fields, Line& line) {
  fields.field({"name", "what the line is of", "", true}, line.name);
  fields.field({"scale", "what values are multiplied by"}, line.scale);
  fields.field({"unit", "of the slope"}, line.unit);
  fields.field({"published", "the published slope", "", true}, line.published);
  fields.field({"points", "names of three points or more"}, line.points);
  fields.field({"at", "a number for each of them"}, line.at);
}

void describe(Fields& fields, Knee& knee) {
  fields.field({"name", "what is looked at", "", true}, knee.name);
  fields.field({"within", "part of the largest value that a near one may lack"}, knee.within,
               {0, 1});
  fields.field({"published", "number at which the first value is near the largest", "", true},
               knee.published);
  fields.field({"published_most", "the largest such number, where a range is published"},
               knee.published_most);
  fields.field({"points", "names of three points or more"}, knee.points);
  fields.field({"at", "a number for each of them"}, knee.at);
}

void describe(Fields& fields, Crossing& crossing) {
  fields.field({"over", "number in the points' context along which speed-ups grow"}, crossing.over);
  fields.field({"least", "recorded number at which the published one is passed, least"},
               crossing.least);
  fields.field({"most", "the same, largest"}, crossing.most);
}

void describe(Fields& fields, Neighbours& neighbours) {
  fields.field({"over", "key paths of the numbers that they differ in", "", true}, neighbours.over);
  fields.field({"same", "key paths of what else they have alike"}, neighbours.same);
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
  fields.any_object({"set", "key path to value, on top of the set's base"}, point.set);
  fields.any_object({"baseline", "key path to value, on top of the set's baseline"},
                    point.baseline);
  fields.any_object({"context", "further published numbers, for the table only"}, point.context);
  bool tried = false;
  fields.optional_group({"best", "values of a key of which the best counts"}, tried, point.best);
  fields.require(!point.fits || point.published != 0 || !fields.given("published"), "published",
                 "found 0, allowed another number: it is what is divided by");
  fields.require(point.regression.speedup_within == 0 || point.published_speedup > 0,
                 "regression.speedup_within", "stands without published_speedup");
}

void describe(Fields& fields, PowerLaw& fit) {
  fields.field({"best_over", "key over which the best points are taken"}, fit.best_over);
  fields.list({"exponents", "of a product of powers"}, fit.exponents);
  fields.any_list({"baseline_values", "of best_over, at which the baseline is tried too"},
                  fit.baseline_values);
}

void describe(Fields& fields, Baseline& baseline) {
  fields.any_object({"config", "what points are compared with", "", true}, baseline.config);
  fields.field({"same", "key paths that it takes from each point"}, baseline.same);
}

namespace {

/// Requires three or more known points, and a number for each.
template <class Compared>
void require_points(Fields& fields, const std::string& key, const std::vector<Compared>& compared,
                    const std::vector<ValidationPoint>& points) {
  constexpr std::size_t kLeast = 3;
  for (std::size_t i = 0; i < compared.size(); ++i) {
    const std::string path = config::join(key, i);
    const Compared& each = compared[i];
    for (const std::string& name : each.points)
      fields.require(contains(mapped(points, &ValidationPoint::name), name),
                     config::join(path, "points"), "found {}, allowed the name of a point", name);
    fields.require(each.points.size() >= kLeast && each.at.size() == each.points.size(),
                   config::join(path, "at"),
                   "found {} numbers for {} points, allowed one each, {} or more", each.at.size(),
                   each.points.size(), kLeast);
  }
}

}  // namespace

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
  fields.any_object({"base", "the config that points change", "", true}, set.base);
  fields.field({"axes", "key paths that are columns of the table"}, set.axes);
  fields.field({"columns", "keys of report.json that are columns of it too"}, set.columns);
  fields.group({"fit", "values as a product of powers"}, set.fit);
  bool has_neighbours = false;
  bool has_baseline = false;
  fields.optional_group({"neighbours", "how values change from point to point"}, has_neighbours,
                        set.neighbours);
  fields.optional_group({"baseline", "what speed-ups are over"}, has_baseline, set.baseline);
  ValidationPoint as_set;
  as_set.metric = set.metric;
  as_set.unexplained = set.unexplained.amount;
  fields.list({"points", "published numbers", "", true}, set.points, as_set);
  fields.list({"lines", "points whose values lie on a straight line"}, set.lines);
  fields.list({"knees", "points among which the first near the largest is published"}, set.knees);
  require_points(fields, "lines", set.lines, set.points);
  require_points(fields, "knees", set.knees, set.points);
  const std::string& over = set.crossing.over;
  const auto has = [&](const ValidationPoint& point) { return context_number(point, over); };
  fields.require(
      over.empty() || std::ranges::any_of(mapped(set.points, has),
                                          [](const auto& found) { return found.has_value(); }),
      "crossing.over", "found {}, allowed the name of a number in points' context", over);
}

namespace {

config::Config finished(Layers layers, const ValidationSet& set, const Catalogue& catalogue,
                        config::Presets machines) {
  for (const std::string& assignment : set.changed) layers.set(assignment);
  layers.set("run.threads", 1U, "tessera validate");
  config::Config config = config::read_config(layers, set.name, catalogue, machines);
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
  Reader(layers, layers.value(), "").read(set);
  return set;
}

config::Config point_config(const ValidationSet& set, const ValidationPoint& point,
                            const Catalogue& catalogue, config::Presets machines) {
  const std::string origin = "validation set " + set.name;
  Layers layers(set.base, origin);
  config::machine_name_to_extends(layers);
  for (const auto& [path, value] : point.set.items()) layers.set(path, value, origin);
  return finished(std::move(layers), set, catalogue, machines);
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
  return finished(Layers(baseline, "baseline of " + set.name), set, catalogue, machines);
}

Json value_of(const ValidationSet& set, const ValidationPoint& point, const std::string& key) {
  if (point.set.contains(key)) return point.set.at(key);
  const Json* const at = config::find_at(set.base, key);
  return at == nullptr ? nullptr : *at;
}

std::optional<double> context_number(const ValidationPoint& point, const std::string& name) {
  const auto found = point.context.find(name);
  if (found == point.context.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

double metric_of(const Metric& metric, const Json& report) {
  const Json* const at = config::find_at(report, metric.key);
  if (at == nullptr || !at->is_number())
    throw KeyError("metric.key", "found {}, allowed a number's path in report.json", metric.key);
  return at->get<double>() * metric.scale - metric.minus;
}

}  // namespace tessera::command
