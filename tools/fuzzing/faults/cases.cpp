#include "tools/fuzzing/faults/cases.h"

#include <filesystem>
#include <set>

#include "tools/fuzzing/call.h"

namespace tessera::faults {
namespace {

namespace fs = std::filesystem;
using fuzz::Json;

/// Adds the cases of one kernel: its section "faults", see kernels/README.md.
void add_cases(std::vector<Case>& all, const std::string& kernel, const Json& stated,
               std::string_view only) {
  for (const auto& [name, own] : stated.at("cases").items()) {
    Json workload = {{"kernel", kernel}, {"seed", 7}};
    workload.update(stated.at("shared"));
    workload.update(own);
    const std::string type = workload.value("dtype", stated.value("dtype", "f32"));
    const Json machine = {{"extends", "bow"}, {"tiles", stated.value("tiles", 4)}};
    const Case made{
        kernel + "/" + name,
        kernel,
        {{"machine", machine}, {"workload", workload}, {"report", {{"tensors", "all"}}}},
        stated.at("depth"),
        type == "f16",
        stated.value("trains", false)};
    if (made.name.starts_with(only)) all.push_back(made);
  }
}

}  // namespace

std::vector<Case> cases(std::string_view only) {
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(TESSERA_SOURCE) / "kernels"))
    if (fs::exists(entry.path() / "points.json")) files.insert(entry.path() / "points.json");
  std::vector<Case> all;
  for (const fs::path& file : files) {
    const Json stated = Json::parse(fuzz::read(file));
    if (stated.contains("faults"))
      add_cases(all, file.parent_path().filename(), stated.at("faults"), only);
  }
  return all;
}

}  // namespace tessera::faults
