#include <algorithm>
#include <cmath>
#include <filesystem>
#include <regex>

#include <doctest/doctest.h>

#include "kernels/catalogue.h"
#include "sim/config/config.h"
#include "sim/data/read_file.h"
#include "tests/cli/command.h"

using namespace tessera;
using config::Json;

/// Validates configs with the JSON Schema (2020-12), by an implementation of the keywords it uses.
namespace {

bool is_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "number") return value.is_number();
  REQUIRE(type == "integer");
  return value.is_number_integer() ||
         (value.is_number() && value.get<double>() == std::floor(value.get<double>()));
}

bool valid(const Json& value, const Json& schema);

bool valid_object(const Json& value, const Json& schema) {
  for (const Json& key : schema.value("required", Json::array()))
    if (!value.contains(key.get<std::string>())) return false;
  const Json properties = schema.value("properties", Json::object());
  if (value.size() < schema.value("minProperties", 0U)) return false;
  for (const auto& [key, inner] : value.items()) {
    if (properties.contains(key)) {
      if (!valid(inner, properties.at(key))) return false;
      continue;
    }
    const bool note = schema.contains("patternProperties") && key.starts_with("//");
    if (!note && !schema.value("additionalProperties", true)) return false;
  }
  return true;
}

bool valid(const Json& value, const Json& schema) {
  const auto count = [&](const char* word) {
    std::size_t holds = 0;
    for (const Json& each : schema.at(word)) holds += valid(value, each);
    return holds;
  };
  if (schema.contains("type")) {
    const Json& types = schema.at("type");
    bool any = types.is_string() && is_type(value, types.get<std::string>());
    if (types.is_array())
      for (const Json& type : types) any = any || is_type(value, type.get<std::string>());
    if (!any) return false;
  }
  if (schema.contains("const") && value != schema.at("const")) return false;
  if (schema.contains("enum")) {
    const Json& names = schema.at("enum");
    if (std::find(names.begin(), names.end(), value) == names.end()) return false;
  }
  if (value.is_string() && schema.contains("pattern") &&
      !std::regex_search(value.get<std::string>(), std::regex(schema.at("pattern"))))
    return false;
  const bool number = value.is_number();
  if (number && schema.contains("minimum") && value < schema.at("minimum")) return false;
  if (number && schema.contains("maximum") && value > schema.at("maximum")) return false;
  if (schema.contains("anyOf") && count("anyOf") == 0) return false;
  if (schema.contains("oneOf") && count("oneOf") != 1) return false;
  if (schema.contains("not") && valid(value, schema.at("not"))) return false;
  if (schema.contains("if") && valid(value, schema.at("if")) && !valid(value, schema.at("then")))
    return false;
  if (value.is_array()) {
    if (value.size() < schema.value("minItems", 0U)) return false;
    for (const Json& each : value)
      if (schema.contains("items") && !valid(each, schema.at("items"))) return false;
  }
  return !value.is_object() || valid_object(value, schema);
}

const Json& whole_schema() {
  static const Json kSchema =
      config::config_schema(kernels::catalogue(), config::machine_presets());
  return kSchema;
}

bool valid(const char* text) {
  return valid(config::parse_json(test::with_kernel(text), "test"), whole_schema());
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("every run and every sweep that we ship is valid by the schema") {
    std::size_t files = 0;
    for (const char* folder : {"runs", "sweeps"}) {
      for (const auto& entry : std::filesystem::directory_iterator(
               std::filesystem::path(TESSERA_SOURCE) / "configs" / folder)) {
        CAPTURE(entry.path().string());
        CHECK(valid(config::parse_json(data::read_file(entry.path()), "file"), whole_schema()));
        ++files;
      }
    }
    CHECK(files > 15);
  }

  TEST_CASE("every machine file that we ship is valid by the schema of machine files") {
    const Json schema = config::machine_file_schema(config::machine_presets());
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(
             std::filesystem::path(TESSERA_SOURCE) / "configs" / "machines")) {
      CAPTURE(entry.path().string());
      const Json file = config::parse_json(data::read_file(entry.path()), "file");
      CHECK(valid(file, schema));
      CHECK_FALSE(valid(file, whole_schema()));
      CHECK_NOTHROW(config::read_machine_file(entry.path().string(), config::machine_presets()));
      ++files;
    }
    CHECK(files == config::machine_presets().size());
    const auto is_machine = [&](const char* text) {
      return valid(config::parse_json(text, "test"), schema);
    };
    CHECK(is_machine(R"({"$schema": "m.json", "extends": "bow", "tile": {"sram_kib": 64}})"));
    CHECK_FALSE(is_machine(R"({"extends": "bow", "tile": {"sram_kb": 64}})"));
    CHECK_FALSE(is_machine(R"({"extends": "bow", "tilez": 64})"));
    CHECK_FALSE(is_machine(R"({"tiles": 64, "energy": {"node": "7 nm"}})"));  // a whole table
    CHECK_FALSE(is_machine(R"({"machine": "bow", "workload": {"kernel": "KERNEL"}})"));
  }

  TEST_CASE("a sweep may leave to its points what a run has to give") {
    CHECK(valid(R"({"$schema": "s.json", "workload": {"n": 4},
                    "sweep": {"grid": {"workload.kernel": ["PRODUCT"], "machine": "bow,gc2"}}})"));
    CHECK_FALSE(valid(R"({"machine": "bow", "workload": {"n": 4}})"));
    CHECK_FALSE(valid(R"({"machine": "bow"})"));
    CHECK(valid(R"({"machine": "my.json", "workload": {"kernel": "KERNEL"}})"));
    CHECK_FALSE(valid(R"({"machine": "bwo", "workload": {"kernel": "KERNEL"}})"));
    CHECK(valid(R"({"extends": "other.json", "workload": {"n": 4}})"));
  }

  TEST_CASE("a null takes back what has a default, not what a run has to give") {
    CHECK(
        valid(R"({"extends": "a.json", "machine": {"extends": "bow", "tiles": null, "fabric": null},
                    "workload": {"kernel": "KERNEL", "seed": null, "operation": null}})"));
    CHECK_FALSE(valid(R"({"workload": {"kernel": null}})"));
  }

  TEST_CASE("a table that has to be whole may be changed in part where the machine extends one") {
    const std::string machine =
        R"("energy": {"wire_pj_per_bit_mm": 0.2, "area": {"f16_mac_um2": 1}}})";
    const std::string workload = R"(, "workload": {"kernel": "KERNEL"}})";
    CHECK(valid((R"({"machine": {"extends": "bow", )" + machine + workload).c_str()));
    CHECK(valid((R"({"extends": "a.json", "machine": {)" + machine + workload).c_str()));
    CHECK_FALSE(valid((R"({"machine": {)" + machine + workload).c_str()));
  }

  TEST_CASE("mistakes in a sweep are seen") {
    const auto sweep = [](const std::string& section) {
      return valid(
          (R"({"machine": "bow", "workload": {"kernel": "PRODUCT"}, "sweep": )" + section + "}")
              .c_str());
    };
    CHECK(sweep(R"([{"zip": {"workload.n": [1], "workload.m": "4..8"}, "where": ["1 < 2"]}])"));
    CHECK(sweep(R"({"random": {"points": 4, "axes": {"workload.n": "1..9"}}})"));
    CHECK(sweep(R"({"// note": 1, "list": [{"workload.n": 4}]})"));
    CHECK_FALSE(sweep(R"({"gird": {"workload.n": 4}})"));
    CHECK_FALSE(sweep(R"({"grid": {}})"));
    CHECK_FALSE(sweep(R"({"list": []})"));
    CHECK_FALSE(sweep(R"({"random": {"points": 0, "axes": {"workload.n": 4}}})"));
    CHECK_FALSE(sweep(R"({"random": {"axes": {"workload.n": 4}}})"));
    CHECK_FALSE(sweep(R"({"where": 4})"));
    CHECK_FALSE(sweep(R"("workload.n=4")"));
  }
}
