#include "sim/sweep/store.h"

#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/leftovers.h"
#include "sim/base/whole_file.h"
#include "sim/data/read_file.h"
#include "sim/sweep/sha256.h"

namespace tessera::sweep {

using config::Json;

namespace {

// A point's file: {"sha256":"64 digits","id":...}. The sum covers the text without the sum.
constexpr std::string_view kHead = R"({"sha256":")";
constexpr std::string_view kNext = R"(",)";
constexpr std::size_t kDigits = 64;

std::string with_sum(const std::string& object) {
  return fmt::format("{}{}{}{}\n", kHead, sha256_of(object), kNext,
                     std::string_view(object).substr(1));
}

/// The stored object if its sum matches; else empty.
std::string without_sum(std::string_view text) {
  const std::size_t begin = kHead.size() + kDigits + kNext.size();
  const bool has_sum = text.size() > begin && text.starts_with(kHead) &&
                       text.substr(kHead.size() + kDigits).starts_with(kNext);
  if (!has_sum) return "";
  const std::string object =
      "{" + std::string(text.substr(begin, text.size() - begin - (text.back() == '\n' ? 1 : 0)));
  return sha256_of(object) == text.substr(kHead.size(), kDigits) ? object : "";
}

}  // namespace

Json to_json(const Result& result) {
  return {{"seed", result.seed},
          {"status", result.status},
          {"error", result.error.empty() ? Json() : Json(result.error)},
          {"report", result.report}};
}

Result from_json(const Json& json) {
  const Json& error = json.at("error");
  return {json.at("status").get<std::string>(), error.is_null() ? "" : error.get<std::string>(),
          json.at("seed"), json.at("report")};
}

void Store::open() const { create_folder(folder_); }

std::string Store::file_of(const std::string& id) const { return folder_ + "/" + id + ".json"; }

Store::Stored Store::read(const std::string& id) const {
  if (!std::filesystem::exists(file_of(id))) return {};
  const std::string object = without_sum(data::read_file(file_of(id)));
  if (object.empty()) return {std::nullopt, "its checksum does not agree"};
  const Json json = Json::parse(object);
  const auto whose = json.at("id").get<std::string>();
  if (whose != id) return {std::nullopt, fmt::format("it is the file of the point {}", whose)};
  return {from_json(json), ""};
}

std::optional<Result> Store::find(const std::string& id) const {
  std::optional<Result> result = find_any(id);
  if (result && (result->status == "died" || result->status == "starved")) return std::nullopt;
  return result;
}

std::optional<Result> Store::find_any(const std::string& id) const { return read(id).result; }

std::string Store::damage(const std::string& id) const {
  const std::string damage = read(id).damage;
  return damage.empty() ? "" : fmt::format("{}: {}", file_of(id), damage);
}

void Store::put(const std::string& id, const Result& result) const {
  Json json = {{"id", id}};
  json.update(to_json(result));
  write_whole(file_of(id), with_sum(config::one_line(json)));
}

void Store::remove_leftovers() const {
  for (const std::string& folder : {out_, folder_}) tessera::remove_leftovers(folder);
}

}  // namespace tessera::sweep
