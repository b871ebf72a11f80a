#include "sim/sensitivity/stored.h"

#include <filesystem>

#include "sim/base/errors.h"
#include "sim/data/read_file.h"

namespace tessera::sensitivity {
namespace {

using config::Json;

std::string file_of(const std::string& folder) {
  return (std::filesystem::path(folder) / "sensitivity.json").string();
}

bool is_number_or_null(const Json& object, const char* key) {
  return object.contains(key) && (object.at(key).is_number() || object.at(key).is_null());
}

bool is_end(const Json& key, const char* name) {
  if (!key.contains(name)) return false;
  const Json& end = key.at(name);
  return end.is_null() || (end.is_object() && end.contains("value") &&
                           end.at("value").is_number() && end.contains("replanned") &&
                           end.at("replanned").is_boolean() && is_number_or_null(end, "time") &&
                           is_number_or_null(end, "energy") && is_number_or_null(end, "area"));
}

bool is_key(const Json& key) {
  const auto text = [&](const char* name) {
    return key.contains(name) && key.at(name).is_string();
  };
  return key.is_object() && text("key") && text("unit") && text("sentence") &&
         key.contains("acts") && key.at("acts").is_boolean() && key.contains("value") &&
         key.at("value").is_number() && is_end(key, "low") && is_end(key, "high") &&
         is_number_or_null(key, "time_slope") && is_number_or_null(key, "energy_slope") &&
         is_number_or_null(key, "area_slope");
}

bool is_whole(const Json& json) {
  if (!json.is_object() || !json.contains("keys") || !json.at("keys").is_array()) return false;
  if (!json.contains("heading") || !json.at("heading").is_string()) return false;
  if (!json.contains("by") || !json.at("by").is_number()) return false;
  if (!json.contains("simulated") || !json.at("simulated").is_boolean()) return false;
  if (!json.contains("time") || !json.at("time").is_number()) return false;
  if (!is_number_or_null(json, "energy") || !is_number_or_null(json, "area")) return false;
  for (const Json& key : json.at("keys"))
    if (!is_key(key)) return false;
  return true;
}

}  // namespace

bool is_stored(const std::string& folder) { return std::filesystem::exists(file_of(folder)); }

Json read(const std::string& folder) {
  const std::string file = file_of(folder);
  Json json = config::parse_json(data::read_file(file), file);
  if (!is_whole(json)) throw UserError(file + ": is not what tessera sensitivity writes");
  return json;
}

}  // namespace tessera::sensitivity
