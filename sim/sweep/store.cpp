#include "sim/sweep/store.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "sim/base/whole_file.h"

namespace tessera::sweep {

namespace fs = std::filesystem;
using config::Json;

Json to_json(const Result& result) {
  return {{"seed", result.seed},
          {"status", result.status},
          {"error", result.error.empty() ? Json() : Json(result.error)},
          {"report", result.report}};
}

void Store::open() const { create_folder(folder_); }

std::optional<Result> Store::find(const std::string& id) const {
  std::optional<Result> result = find_any(id);
  if (result && result->status == "died") return std::nullopt;
  return result;
}

std::optional<Result> Store::find_any(const std::string& id) const {
  std::ifstream in(folder_ + "/" + id + ".json", std::ios::binary);
  if (!in) return std::nullopt;
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  // A host that lost power may leave a file that is not whole.
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object() || !json.contains("report")) return std::nullopt;
  const Json& error = json.at("error");
  return Result{json.at("status").get<std::string>(),
                error.is_null() ? "" : error.get<std::string>(), json.at("seed"),
                json.at("report")};
}

void Store::put(const std::string& id, const Result& result) const {
  write_whole(folder_ + "/" + id + ".json",
              to_json(result).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void Store::remove_leftovers() const {
  std::vector<fs::path> leftovers;
  for (const std::string& folder : {out_, folder_}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      const bool of_ours =
          folder == folder_ || name.starts_with("points.jsonl.") || name.starts_with("results.");
      if (of_ours && name.ends_with(kTemporaryEnding)) leftovers.push_back(entry.path());
    }
  }
  std::error_code ignored;
  for (const fs::path& each : leftovers) fs::remove(each, ignored);
}

}  // namespace tessera::sweep
