#include <fmt/format.h>

#include "sim/config/config.h"
#include "sim/config/writers.h"

namespace tessera::config {
namespace {

constexpr const char* kDialect = "https://json-schema.org/draft/2020-12/schema";

Json schema_key() {
  return {{"type", "string"}, {"description", "this schema's file, for editors"}};
}

Json names_of(Presets presets) {
  Json names = Json::array();
  for (const Preset& preset : presets) names.push_back(preset.name);
  return names;
}

/// Moves the `required` lists of `type` and its groups into the returned schema: in a file that
/// extends another, the other file may give those keys.
Json take_required(Json& type) {
  Json taken = Json::object();
  if (type.contains("required")) taken["required"] = std::move(type["required"]);
  type.erase("required");
  for (const auto& [key, member] : type["properties"].items()) {
    if (!member.contains("properties")) continue;
    Json inner = take_required(member);
    if (!inner.empty()) taken["properties"][key] = std::move(inner);
  }
  return taken;
}

/// Keys required of machines that extend no other machine.
Json required_of_machine() {
  Json object = schema(MachineConfig());
  return {{"if", {{"not", {{"required", {"extends"}}}}}}, {"then", take_required(object)}};
}

/// Schema of a machine that may extend another and then need not give all keys.
Json machine_object(Presets machines) {
  Json object = schema(MachineConfig());
  static_cast<void>(take_required(object));
  object["properties"]["extends"] = {
      {"type", "string"},
      {"examples", names_of(machines)},
      {"description", "a preset's name or a file that this machine extends"}};
  return object;
}

Json machine_schema(Presets machines) {
  const Json file = {{"type", "string"}, {"pattern", "[./]"}};
  return {
      {"description", "a preset's name, a file, or an object that may extend either"},
      {"anyOf", Json::array({Json{{"enum", names_of(machines)}}, file, machine_object(machines)})}};
}

Json workload_schema(const Catalogue& catalogue) {
  Json kernels = Json::array();
  for (const Kernel& kernel : catalogue) {
    const std::unique_ptr<KernelOptions> options = kernel.options();
    Json type = schema([&](Fields& fields) { options->visit(fields); });
    type["description"] = kernel.sentence;
    type["properties"]["kernel"] = {{"const", kernel.name}};
    type["required"].push_back("kernel");
    kernels.push_back(std::move(type));
  }
  // The kernel may be given by another file or by the points of a sweep.
  kernels.push_back({{"type", "object"},
                     {"description", "keys of a kernel defined elsewhere"},
                     {"not", {{"required", {"kernel"}}}}});
  return {{"description", "the kernel that the machine runs"}, {"oneOf", std::move(kernels)}};
}

/// Schema of the axes of `tessera sweep`, which sim/sweep/spec reads.
Json sweep_schema() {
  const Json notes = {{"^//", Json::object()}};
  const Json axes = {{"type", "object"},
                     {"minProperties", 1},
                     {"description", "values by key path: a list, or a text such as 16..4096*4"}};
  const auto object = [&](Json properties, const char* what) {
    return Json{{"type", "object"},
                {"properties", std::move(properties)},
                {"patternProperties", notes},
                {"additionalProperties", false},
                {"description", what}};
  };
  Json random = object({{"points", {{"type", "integer"}, {"minimum", 1}, {"maximum", 1'000'000}}},
                        {"seed", {{"type", "integer"}, {"minimum", 0}, {"default", 1}}},
                        {"axes", axes}},
                       "number of random points");
  random["required"] = {"points", "axes"};
  const Json condition = {{"type", "string"},
                          {"description", "a condition on points, for example workload.m <= 64"}};
  Json part =
      object({{"grid", axes},
              {"zip", axes},
              {"list",
               {{"type", "array"},
                {"minItems", 1},
                {"items", {{"type", "object"}}},
                {"description", "points, each an object of values by key path"}}},
              {"random", std::move(random)},
              {"where", {{"anyOf", {condition, {{"type", "array"}, {"items", condition}}}}}}},
             "combinations of the grid's values, the rows of zip and list, and random points, "
             "restricted to those that satisfy `where`");
  return {{"description", "points of tessera sweep; a list: its parts one after the other"},
          {"anyOf", Json::array({part, {{"type", "array"}, {"minItems", 1}, {"items", part}}})}};
}

std::string section(const std::string& title, const std::string& rows) {
  return fmt::format("## {}\n\n| key | default | allowed | meaning |\n|---|---|---|---|\n{}\n",
                     title, rows);
}

}  // namespace

Json machine_file_schema(Presets machines) {
  Json file = {{"$schema", kDialect}, {"title", "A machine of Tessera"}};
  file.update(machine_object(machines));
  file["properties"]["$schema"] = schema_key();
  file.update(required_of_machine());
  return file;
}

Json config_schema(const Catalogue& catalogue, Presets machines) {
  return {
      {"$schema", kDialect},
      {"title", "A Tessera run"},
      {"type", "object"},
      {"properties",
       {{"extends", {{"type", "string"}, {"description", "a config file that this one extends"}}},
        {"machine", machine_schema(machines)},
        {"workload", workload_schema(catalogue)},
        {"run", schema(RunConfig())},
        {"report", schema(ReportConfig())},
        {"sweep", sweep_schema()},
        {"$schema", schema_key()}}},
      {"patternProperties", {{"^//", Json::object()}}},
      {"additionalProperties", false},
      {"if", {{"not", {{"anyOf", {{{"required", {"sweep"}}}, {{"required", {"extends"}}}}}}}}},
      {"then",
       {{"required", {"machine", "workload"}},
        {"properties",
         {{"machine", required_of_machine()}, {"workload", {{"required", {"kernel"}}}}}}}}};
}

std::string config_markdown(const Catalogue& catalogue) {
  std::string text = section("machine", markdown(MachineConfig(), "machine"));
  for (const Kernel& kernel : catalogue) {
    const std::unique_ptr<KernelOptions> options = kernel.options();
    text += section(fmt::format("workload {}: {}", kernel.name, kernel.sentence),
                    markdown([&](Fields& fields) { options->visit(fields); }, "workload"));
  }
  text += section("run", markdown(RunConfig(), "run"));
  return text + section("report", markdown(ReportConfig(), "report"));
}

Json identity(const Json& resolved) {
  Json same = resolved;
  same.erase("report");
  same["run"].erase("threads");
  same["run"].erase("engine");
  return same;
}

std::string config_hash(const Json& resolved) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : identity(resolved).dump()) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace tessera::config
