#include "sim/sweep/kept_run.h"

#include <algorithm>
#include <filesystem>

#include "sim/base/errors.h"
#include "sim/base/whole_file.h"
#include "sim/data/read_file.h"
#include "sim/sweep/sha256.h"

namespace tessera::sweep {

using config::Json;

namespace {

constexpr const char* kName = "kept.json";

std::string sum_of(const std::string& file) { return sha256_of(data::read_file(file)); }

}  // namespace

std::optional<Json> KeptRun::find() const {
  try {
    if (!std::filesystem::exists(at(kName))) return std::nullopt;
    const Json kept = Json::parse(data::read_file(at(kName)));
    if (kept.at("id") != id_ || kept.at("report") != section_) return std::nullopt;
    for (const auto& [file, sum] : kept.at("files").items())
      if (sum_of(at(file)) != sum) return std::nullopt;
    return Json::parse(data::read_file(at("report.json")));
  } catch (const UserError&) {        // a file is missing
  } catch (const Json::exception&) {  // kept.json was not written by tessera
  }
  return std::nullopt;
}

void KeptRun::keep(const std::vector<std::string>& files) const {
  Json sums;
  for (const std::string& file : files) sums[file] = sum_of(at(file));
  write_whole(at(kName), Json{{"id", id_}, {"report", section_}, {"files", sums}}.dump(2) + "\n");
}

void KeptRun::forget(const std::string& folder) {
  std::error_code absent;
  std::filesystem::remove(std::filesystem::path(folder) / kName, absent);
}

}  // namespace tessera::sweep
