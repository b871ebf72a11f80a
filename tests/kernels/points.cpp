#include "tests/kernels/points.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/catalogue.h"
#include "sim/base/errors.h"
#include "sim/config/config.h"
#include "sim/config/presets.h"
#include "tests/cli/command.h"

namespace tessera::test {
namespace {

using config::Json;

Json stated(const std::string& kernel) {
  const std::string file = fmt::format("{}/kernels/{}/points.json", TESSERA_SOURCE, kernel);
  return config::parse_json(config::read_text(file), file);
}

/// A key without a section of a config is a key of the workload. A workload key that is also the
/// name of a fact must be written with its section.
std::string path_of(const std::string& key) {
  const std::string section = key.substr(0, key.find('.'));
  const bool whole = section == "machine" || section == "run" || section == "workload";
  return whole ? key : "workload." + key;
}

constexpr std::array<std::string_view, 36> kFacts = {
    "needs",  "report",   "inputs",   "result",   "value",  "keys",        "finds",    "results",
    "seed",   "unit",     "draws",    "base",     "files",  "message",     "sram_kib", "bound",
    "each",   "pairs",    "tiles",    "off",      "fits",   "over",        "what",     "says",
    "than",   "ratios",   "same",     "differ",   "before", "differences", "along",    "at_most",
    "shapes", "compiled", "commands", "equations"};

void add_key(Point& point, const std::string& key, const Json& value) {
  if (key == "//") return;
  if (key == "config")
    point.config = value.get<std::string>();
  else if (key == "each")  // merges the list's `each` with the point's own
    point.facts[key].update(value);
  else if (std::find(kFacts.begin(), kFacts.end(), key) != kFacts.end())
    point.facts[key] = value;
  else
    point.sets.push_back(fmt::format("{}={}", path_of(key), value.dump()));
}

/// A file of a given shape: IDX; or .npy with bytes that count up to a modulus, a constant f32, or
/// zeros of a type.
std::string numbers(const Json& of) {
  const auto shape = of.at("shape").get<std::vector<unsigned>>();
  const auto modulus = of.value("modulus", 0U);
  if (of.contains("idx")) return idx_file(shape, counting(shape, modulus));
  if (modulus > 0) return numpy_counting(shape, modulus);
  if (of.contains("type")) return numpy_zeros(of.at("type").get<std::string>(), shape);
  const Json& value = of.at("value");
  return numpy_filled(shape, value == "nan" ? std::nanf("") : value.get<float>());
}

void add_keys(Point& point, const Json& keys) {
  for (const auto& [key, value] : keys.items()) add_key(point, key, value);
}

/// Adds points that start as copies of `begin`. A list is an array, or {"shared": {...}, "points":
/// [...]} for points with common keys; lists may be nested.
void add_points(const Json& list, Point begin, std::vector<Point>& made) {
  if (list.is_object() && !list.contains("points"))
    throw UserError(
        "points.json of {}: found the list {:.60}, an object without points, allowed an array, or "
        "{{\"shared\": {{...}}, \"points\": [...]}}",
        begin.kernel, list.dump());
  if (list.is_object()) add_keys(begin, list.value("shared", Json::object()));
  for (const Json& keys : list.is_object() ? list.at("points") : list) {
    if (keys.contains("shared")) {
      add_points(keys, begin, made);
      continue;
    }
    add_keys(made.emplace_back(begin), keys);
  }
}

std::vector<Point> points_of(const std::string& kernel, const Json& list) {
  std::vector<Point> made;
  add_points(list, {kernel, kernel, {}, Json::object()}, made);
  return made;
}

}  // namespace

std::string Point::options() const {
  std::string text;
  for (const std::string& each : sets) text += fmt::format(" --set '{}'", each);
  return text;
}

std::string Point::arguments() const {
  return fmt::format("{}/configs/runs/{}.json{}", TESSERA_SOURCE, config, options());
}

config::Json Point::workload() const {
  config::Layers layers(Json{{"workload", {{"kernel", kernel}}}}, "points.json");
  for (const std::string& each : sets) layers.set(each);
  return layers.value().at("workload");
}

std::unique_ptr<KernelOptions> Point::options_read() const {
  const config::Layers layers(Json{{"machine", {{"extends", "bow"}}}, {"workload", workload()}},
                              "points.json");
  return config::read_config(layers, kernel, kernels::catalogue(), config::machine_presets())
      .workload;
}

std::string Point::config_on(const std::string& machine, unsigned tiles) const {
  return Json{{"machine", {{"extends", machine}, {"tiles", tiles}}}, {"workload", workload()}}
      .dump();
}

std::string Point::describe() const { return fmt::format("{} {}", config, fmt::join(sets, " ")); }

std::vector<Point> points(const std::string& list) {
  std::vector<Point> all;
  for (const Kernel& kernel : kernels::catalogue()) {
    const Json lists = stated(kernel.name);
    if (!lists.contains(list)) continue;
    for (Point& each : points_of(kernel.name, lists.at(list))) all.push_back(std::move(each));
  }
  return all;
}

Point with(Point point, const Json& keys) {
  for (const auto& [name, value] : keys.items())
    if (name == "tiles" || name == "sram_kib")
      point.facts[name] = value;
    else
      point.sets.push_back(fmt::format("{}={}", path_of(name), value.dump()));
  return point;
}

void write_files(const Folder& folder, const Point& point) {
  const Json files = point.facts.value("files", Json::object());
  for (const auto& [name, content] : files.items())
    if (content.is_string())
      folder.write(name, content.get<std::string>());
    else
      folder.write(name, content.contains("shape") ? numbers(content) : content.dump());
}

std::vector<Point> combinations(const Point& stated) {
  std::vector<std::pair<Point, std::size_t>> all{{stated, 0}};  // with the sum of its indices
  const Json each = stated.facts.value("each", Json::object());
  for (const auto& [key, values] : each.items()) {
    std::vector<std::pair<Point, std::size_t>> more;
    for (const auto& [point, sum] : all)
      for (std::size_t i = 0; i < values.size(); ++i) {
        const Json keys = values[i].is_object() ? values[i] : Json{{key, values[i]}};
        more.emplace_back(with(point, keys), sum + i);
      }
    all = std::move(more);
  }
  std::vector<Point> kept;
  for (auto& [point, sum] : all)
    if (!stated.facts.contains("pairs") || sum % 3 == 0) kept.push_back(std::move(point));
  return kept;
}

std::vector<Point> small_points() {
  std::vector<Point> all;
  for (const Kernel& kernel : kernels::catalogue()) {
    Point small = points_of(kernel.name, Json::array({stated(kernel.name).at("small")})).front();
    if (!small.facts.contains("bound")) all.push_back(std::move(small));
  }
  return all;
}

}  // namespace tessera::test
