#include <algorithm>

#include <fmt/format.h>

#include "sim/config/writers.h"

namespace tessera::config {
namespace {

class SchemaWriter : public Fields {
 public:
  Json properties = Json::object();
  Json required = Json::array();

  Json object() {
    Json result = {{"type", "object"}, {"properties", std::move(properties)}};
    if (!required.empty()) result["required"] = std::move(required);
    result["patternProperties"] = {{"^//", Json::object()}};
    result["additionalProperties"] = false;
    return result;
  }

 protected:
  void visit_flag(const Field& info, bool& value) override {
    put(info, {{"type", "boolean"}}, value);
  }
  void visit_integer(const Field& info, std::uint64_t& value, Range<std::uint64_t> range) override {
    put(info, integer(range), value);
  }
  void visit_number(const Field& info, double& value, Range<double> range) override {
    Json type = {{"type", "number"}};
    if (range.low > std::numeric_limits<double>::lowest()) type["minimum"] = range.low;
    if (range.high < std::numeric_limits<double>::max()) type["maximum"] = range.high;
    if (!info.zero.empty())
      type = {{"anyOf", Json::array({std::move(type), Json{{"const", info.zero}}})}};
    put(info, std::move(type), shown_number(info, value));
  }
  void visit_text(const Field& info, std::string& value) override {
    put(info, {{"type", "string"}}, value);
  }
  void visit_choice(const Field& info, std::string& value,
                    std::span<const std::string_view> allowed) override {
    put(info, {{"enum", std::vector<std::string>(allowed.begin(), allowed.end())}}, value);
  }
  void visit_integers(const Field& info, std::vector<std::uint32_t>& values,
                      Range<std::uint32_t> range) override {
    put(info, {{"type", "array"}, {"items", integer({range.low, range.high})}}, values);
  }
  void visit_file(const Field& info, std::string& path) override {
    put(info, {{"type", "string"}}, path);
  }
  void visit_group(const Field& info, bool* /*present*/, const Members& members) override {
    SchemaWriter inner;
    members(inner);
    Json type = inner.object();
    type["type"] = {"object", "null"};
    type["description"] = info.sentence;
    properties[std::string(info.key)] = std::move(type);
  }
  void visit_list(const Field& info, std::size_t size, const Resize& resize,
                  const Element& element) override {
    SchemaWriter inner;
    resize(std::max<std::size_t>(size, 1));
    element(0, inner);
    resize(size);
    put(info, {{"type", "array"}, {"items", inner.object()}}, Json::array());
  }

 private:
  static Json integer(Range<std::uint64_t> range) {
    if (!range.among.empty())
      return {{"type", "integer"},
              {"enum", std::vector<std::uint64_t>(range.among.begin(), range.among.end())}};
    Json type = {{"type", "integer"}, {"minimum", range.low}};
    if (range.high < std::numeric_limits<std::uint64_t>::max()) type["maximum"] = range.high;
    return type;
  }
  /// Or null, which takes back what a file below gives.
  static void allow_null(Json& type) {
    if (type.contains("type")) type["type"] = {type["type"], "null"};
    if (type.contains("enum")) type["enum"].push_back(nullptr);
    if (type.contains("anyOf")) type["anyOf"].push_back({{"type", "null"}});
  }
  void put(const Field& info, Json type, const Json& value) {
    type["description"] = info.unit.empty() ? std::string(info.sentence)
                                            : fmt::format("{} [{}]", info.sentence, info.unit);
    if (info.required) {
      required.push_back(info.key);
    } else {
      allow_null(type);
      type["default"] = value;
    }
    properties[std::string(info.key)] = std::move(type);
  }
};

}  // namespace

Json schema(const std::function<void(Fields&)>& members) {
  SchemaWriter writer;
  members(writer);
  return writer.object();
}

}  // namespace tessera::config
