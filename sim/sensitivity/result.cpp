#include "sim/sensitivity/result.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <tuple>

#include <fmt/format.h>

#include "sim/config/json_text.h"
#include "sim/data/read_file.h"
#include "sim/sweep/tables.h"

namespace tessera::sensitivity {

using Json = nlohmann::ordered_json;

std::string_view name_of(Metric metric) {
  constexpr std::array<std::string_view, kMetrics.size()> kNames = {"time", "energy", "area"};
  return kNames[static_cast<std::size_t>(metric)];
}

std::optional<double> value_of(const Answer& answer, Metric metric) {
  if (!answer.error.empty()) return std::nullopt;
  if (metric == Metric::time) return answer.seconds;
  return metric == Metric::energy ? answer.joules : answer.mm2;
}

std::optional<double> slope(const Result& result, const Key& key, Metric metric) {
  struct Place {
    double key, metric;
  };
  if (metric == Metric::area && !key.area_model) return std::nullopt;
  std::vector<Place> places;
  const auto add = [&](std::optional<double> at, const Answer& answer) {
    const std::optional<double> value = value_of(answer, metric);
    if (at && value && *value > 0) places.push_back({*at, *value});
  };
  add(key.low.value, key.low.answer);
  add(key.high.value, key.high.answer);
  if (places.size() == 1) add(key.number.value, result.base);
  if (places.size() < 2) return std::nullopt;
  return std::log(places[1].metric / places[0].metric) / std::log(places[1].key / places[0].key) +
         0.0;  // avoids -0
}

bool acts(const Result& result, const Key& key) {
  const auto differs = [&](const End& end) {
    if (!end.value) return false;
    return !end.answer.error.empty() || std::ranges::any_of(kMetrics, [&](Metric metric) {
      return value_of(end.answer, metric) != value_of(result.base, metric);
    });
  };
  return differs(key.low) || differs(key.high);
}

bool replanned(const Result& result, const End& end) {
  return end.value && end.answer.error.empty() && end.answer.plan != result.base.plan;
}

void sort(Result& result) {
  const auto rank = [&](const Key& key) {
    const auto size = [&](Metric metric) {
      return std::abs(slope(result, key, metric).value_or(0));
    };
    return std::tuple(acts(result, key), size(Metric::time), size(Metric::energy),
                      size(Metric::area), key.held.empty());
  };
  std::ranges::stable_sort(result.keys,
                           [&](const Key& a, const Key& b) { return rank(a) > rank(b); });
}

std::string csv(const Result& result) {
  std::string text = "key,unit,value,time_slope,energy_slope,area_slope";
  for (const char* end : {"low", "high"})
    text += fmt::format(",{0},{0}_seconds,{0}_joules,{0}_mm2,{0}_plan,{0}_error", end);
  text += ",seconds,joules,mm2,held,area_model\n";
  const auto cell = [](std::optional<double> value) {
    return value ? fmt::format(",{}", *value) : std::string(",");
  };
  const auto first_line = [](const std::string& error) {
    return sweep::csv_cell(error.substr(0, error.find('\n')));
  };
  for (const Key& key : result.keys) {
    text += fmt::format("{},{},{}", key.path(), sweep::csv_cell(key.number.unit), key.number.value);
    for (const Metric metric : kMetrics) text += cell(slope(result, key, metric));
    for (const End* end : {&key.low, &key.high}) {
      text += cell(end->value);
      for (const Metric metric : kMetrics)
        text += cell(end->value ? value_of(end->answer, metric) : std::nullopt);
      const bool known = end->value && end->answer.error.empty();
      text += fmt::format(",{},{}",
                          !known                    ? ""
                          : replanned(result, *end) ? "changed"
                                                    : "same",
                          first_line(end->answer.error));
    }
    for (const Metric metric : kMetrics) text += cell(value_of(result.base, metric));
    text += fmt::format(",{},{}\n", first_line(key.held), key.area_model ? "yes" : "no");
  }
  return text;
}

namespace {

void put(Json& json, const std::string& name, std::optional<double> value) {
  json[name] = value ? Json(*value) : Json(nullptr);
}

Json to_json(const Result& result, const End& end) {
  if (!end.value) return nullptr;
  Json json = {{"value", *end.value}};
  for (const Metric metric : kMetrics)
    put(json, std::string(name_of(metric)), value_of(end.answer, metric));
  json["replanned"] = replanned(result, end);
  if (replanned(result, end)) json["plan"] = Json::parse(end.answer.plan);
  if (!end.answer.error.empty()) json["error"] = end.answer.error;
  return json;
}

std::string file_of(const std::string& folder) {
  return (std::filesystem::path(folder) / "sensitivity.json").string();
}

using Is = bool (*)(const Json&);
bool is_text(const Json& json) { return json.is_string(); }
bool is_flag(const Json& json) { return json.is_boolean(); }
bool is_number(const Json& json) { return json.is_number(); }
bool is_number_or_null(const Json& json) { return json.is_number() || json.is_null(); }

/// True if the object has these keys with values of kind `is`.
bool have(const Json& object, std::initializer_list<const char*> keys, Is is) {
  return std::ranges::all_of(keys, [&](const char* key) {
    return object.is_object() && object.contains(key) && is(object.at(key));
  });
}

bool is_end(const Json& end) {
  return end.is_null() || (have(end, {"value"}, is_number) && have(end, {"replanned"}, is_flag) &&
                           have(end, {"time", "energy", "area"}, is_number_or_null));
}

bool is_key(const Json& key) {
  return have(key, {"key", "unit", "sentence"}, is_text) && have(key, {"acts"}, is_flag) &&
         have(key, {"value"}, is_number) && have(key, {"low", "high"}, is_end) &&
         have(key, {"time_slope", "energy_slope", "area_slope"}, is_number_or_null);
}

bool are_keys(const Json& keys) { return keys.is_array() && std::ranges::all_of(keys, is_key); }

}  // namespace

Json to_json(const Result& result) {
  Json keys = Json::array();
  for (const Key& key : result.keys) {
    Json json = {{"key", key.path()},
                 {"sentence", key.number.sentence},
                 {"unit", key.number.unit},
                 {"value", key.number.value},
                 {"acts", acts(result, key)}};
    for (const Metric metric : kMetrics)
      put(json, fmt::format("{}_slope", name_of(metric)), slope(result, key, metric));
    json["area_model"] = key.area_model;
    json["low"] = to_json(result, key.low);
    json["high"] = to_json(result, key.high);
    if (!key.held.empty()) json["held"] = key.held;
    keys.push_back(std::move(json));
  }
  Json json = {{"heading", result.heading},
               {"config", result.of},
               {"by", result.by},
               {"simulated", result.simulated}};
  for (const Metric metric : kMetrics)
    put(json, std::string(name_of(metric)), value_of(result.base, metric));
  json["plan"] = Json::parse(result.base.plan);
  json["keys"] = std::move(keys);
  return json;
}

bool is_stored(const std::string& folder) { return std::filesystem::exists(file_of(folder)); }

Json read(const std::string& folder) {
  const std::string file = file_of(folder);
  Json json = config::parse_json(data::read_file(file), file);
  const bool whole = have(json, {"keys"}, are_keys) && have(json, {"heading"}, is_text) &&
                     have(json, {"by", "time"}, is_number) && have(json, {"simulated"}, is_flag) &&
                     have(json, {"energy", "area"}, is_number_or_null);
  if (!whole) throw UserError(file + ": is not what tessera sensitivity writes");
  return json;
}

}  // namespace tessera::sensitivity
