#include <string_view>

#include "sim/base/embedded.h"
#include "sim/command/accuracy.h"
#include "sim/command/statistics.h"
#include "sim/report/page.h"
#include "sim/report/version.h"

namespace tessera::command {
using Json = nlohmann::ordered_json;

namespace {

Json point_json(const ValidationSet& set, const Row& row) {
  const ValidationPoint& point = *row.point;
  Json axes = Json::object();
  for (const std::string& axis : set.axes)
    axes[axis] = axis == point.best.over ? row.at : value_of(set, point, axis);
  const bool known = row.error.empty();
  const PointRegression& gate = point.regression;
  const std::optional<double> ratio = agreement(row);
  Json json = {{"name", point.name},
               {"unit", point.metric.unit},
               {"published", point.published},
               {"within", gate.within > 0 ? gate.within : set.regression.each_within},
               {"within_absolute", gate.within_absolute},
               {"ratio", ratio ? Json(*ratio) : Json()},
               {"fits", point.fits},
               {"passed", point_passes(row)},
               {"simulated", known ? Json(row.simulated) : Json()},
               {"error", row.error},
               {"why", point.why},
               {"axes", axes},
               {"parts",
                {row.phases.compute, row.phases.exchange, row.phases.sync, row.phases.host,
                 row.phases.wait}}};
  if (known && row.baseline_seconds > 0)
    json["speedup"] = {{"published", point.published_speedup}, {"simulated", row.speedup()}};
  return json;
}

Json gates_json(const Regression& gates) {
  return {{"median_low", gates.median_low},  {"median_high", gates.median_high},
          {"none_below", gates.none_below},  {"none_above", gates.none_above},
          {"share_low", gates.share_low},    {"share_high", gates.share_high},
          {"share_least", gates.share_least}};
}

Json set_json(const ValidatedSet& validated) {
  const ValidationSet& set = *validated.set;
  Json points = Json::array();
  for (const Row& row : validated.rows) points.push_back(point_json(set, row));
  Json passed = Json::array();
  for (const Passed& one : crossings(set, validated.rows))
    passed.push_back(text_of(set.crossing, one));
  return {{"name", set.name},
          {"title", set.title},
          {"citation", set.citation},
          {"why", set.why},
          {"axes", set.axes},
          {"gates", gates_json(set.regression)},
          {"evidence", kind_of(set.evidence).name},
          {"reproduces", validated.reproduces ? Json(*validated.reproduces) : Json()},
          {"shortfall", set.shortfall},
          {"unexplained", set.unexplained.what},
          {"crossings", passed},
          {"as_recorded", validated.as_recorded},
          {"points", points}};
}

/// The header comment with "Leaves out", its lines joined; empty if there is none.
std::string statement_in(std::string_view header) {
  std::string comment;
  for (std::size_t at = 0; at < header.size();) {
    const std::size_t end = std::min(header.find('\n', at), header.size());
    std::string_view line = header.substr(at, end - at);
    at = end + 1;
    constexpr std::string_view kMark = "/// ";
    if (line.starts_with(kMark)) {
      comment += (comment.empty() ? "" : " ") + std::string(line.substr(kMark.size()));
      continue;
    }
    if (comment.find("eaves out") != std::string::npos) return comment;
    comment.clear();
  }
  return "";
}

Json totals_json(const std::vector<ValidatedSet>& sets) {
  Json all = Json::array();
  for (const Total& total : totals(sets)) {
    const EvidenceKind& kind = *total.kind;
    const auto number = [&](double value) { return total.ratios.empty() ? Json() : Json(value); };
    const bool none = total.ratios.empty();
    all.push_back({{"kind", kind.name},
                   {"meaning", kind.meaning},
                   {"gate", text_of(kind.gate)},
                   {"reason", kind.reason},
                   {"sets", total.sets},
                   {"judged", total.judged},
                   {"reproduced", total.reproduced},
                   {"points", total.ratios.size()},
                   {"median", number(none ? 0 : median(total.ratios))},
                   {"mean", number(none ? 0 : mean(total.ratios))},
                   {"near", number(share_within(total.ratios, 1 / kNear, kNear))}});
  }
  return all;
}

Json models_json() {
  Json models = Json::array();
  for (const char* folder : {"models/", "sim/engine/"}) {
    for (const embedded::File& file : embedded::files(folder)) {
      const std::string said =
          statement_in({reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()});
      if (!said.empty()) models.push_back({{"file", file.name}, {"says", said}});
    }
  }
  return models;
}

}  // namespace

std::string validation_page(const std::vector<ValidatedSet>& sets) {
  Json all = Json::array();
  for (const ValidatedSet& each : sets) all.push_back(set_json(each));
  return report::page({{"validation",
                        {{"version", report::kVersion},
                         {"commit", report::kCommit},
                         {"sets", all},
                         {"totals", totals_json(sets)},
                         {"near", kNear},
                         {"models", models_json()}}}});
}

}  // namespace tessera::command
