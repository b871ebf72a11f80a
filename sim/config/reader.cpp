#include "sim/config/reader.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/ranges.h"
#include "sim/config/key_path.h"
#include "sim/config/nearest.h"

namespace tessera::config {
namespace {

/// Which keys a group has.
class Keys : public Fields {
 public:
  std::vector<std::string> keys;

 protected:
  void visit_flag(const Field& info, bool&) override { keys.emplace_back(info.key); }
  void visit_integer(const Field& info, std::uint64_t&, Range<std::uint64_t>) override {
    keys.emplace_back(info.key);
  }
  void visit_number(const Field& info, double&, Range<double>) override {
    keys.emplace_back(info.key);
  }
  void visit_text(const Field& info, std::string&) override { keys.emplace_back(info.key); }
  void visit_choice(const Field& info, std::string&, std::span<const std::string_view>) override {
    keys.emplace_back(info.key);
  }
  void visit_integers(const Field& info, std::vector<std::uint32_t>&,
                      Range<std::uint32_t>) override {
    keys.emplace_back(info.key);
  }
  void visit_file(const Field& info, std::string&) override { keys.emplace_back(info.key); }
  void visit_group(const Field& info, bool*, const Members&) override {
    keys.emplace_back(info.key);
  }
  void visit_list(const Field& info, std::size_t, const Resize&, const Element&) override {
    keys.emplace_back(info.key);
  }
};

std::string with_unit(std::string text, std::string_view unit) {
  return unit.empty() ? text : fmt::format("{} {}", text, unit);
}

std::string allowed_integer(Range<std::uint64_t> range, std::string_view unit) {
  if (!range.among.empty()) return with_unit(fmt::format("{}", fmt::join(range.among, ", ")), unit);
  if (range.high == std::numeric_limits<std::uint64_t>::max()) {
    return with_unit(fmt::format("an integer from {}", range.low), unit);
  }
  return with_unit(fmt::format("an integer from {} to {}", range.low, range.high), unit);
}

std::string allowed_number(Range<double> range, std::string_view unit) {
  std::string text = "a number";
  if (range.low > std::numeric_limits<double>::lowest()) text += fmt::format(" from {}", range.low);
  if (range.high < std::numeric_limits<double>::max()) text += fmt::format(" to {}", range.high);
  return with_unit(text, unit);
}

constexpr double kLargestExact = 0x1p53;  // below, doubles hold every integer

/// The integer that `value` is; 1e3 and 100.0 are integers too, as in JSON Schema.
std::optional<std::uint64_t> whole(const Json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (!value.is_number() || value.get<double>() < 0) return std::nullopt;
  const auto number = value.get<double>();
  if (number > kLargestExact || number != std::floor(number)) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

}  // namespace

void Reader::read_members(const Members& members, const std::vector<std::string>& also) {
  Keys keys;
  members(keys);
  keys.keys.insert(keys.keys.end(), also.begin(), also.end());
  if (!values_->is_object()) wrong(path_, *values_, "an object {...}");
  refuse_unknown(keys.keys);
  members(*this);
}

void Reader::refuse_unknown(const std::vector<std::string>& known) const {
  for (const auto& [key, value] : values_->items()) {
    if (key.starts_with("//") || contains(known, key)) continue;
    const std::string path = join(path_, key);
    throw ConfigError(layers_.origin(path), path,
                      fmt::format("found an unknown key, allowed {}", names_near(key, known)));
  }
}

void Reader::require(bool holds, std::string_view key, const std::string& problem) {
  const std::string path = join(path_, key);
  if (!holds) throw layers_.mistake(path, problem);
}

bool Reader::set_with(std::string_view key, std::string_view other) const {
  return layers_.not_below(join(path_, key), join(path_, other));
}

void Reader::require_read(const Field& info, const Json& found) {
  require(info.unused_with.empty() || !set_with(info.key, info.unused_with), info.key,
          fmt::format("found {}, which nothing reads as {} stands; leave it out", shown(found),
                      join(path_, info.unused_with)));
}

const Json* Reader::value_at(std::string_view key) const {
  const auto found = values_->find(key);
  return found == values_->end() || found->is_null() ? nullptr : &*found;
}

const Json* Reader::find(const Field& info, const std::string& allowed) {
  const Json* const found = value_at(info.key);
  if (found != nullptr) {
    require_read(info, *found);
    return found;
  }
  if (info.required) {
    const std::string path = join(path_, info.key);
    throw ConfigError(layers_.origin(path), path,
                      fmt::format("is missing ({}), allowed {}", info.sentence, allowed));
  }
  return nullptr;
}

void Reader::wrong(const std::string& path, const Json& found, const std::string& allowed) const {
  throw layers_.mistake(path, fmt::format("found {}, allowed {}", shown(found), allowed));
}

std::uint64_t Reader::integer(const std::string& path, const Json& value,
                              Range<std::uint64_t> range, std::string_view unit) const {
  const std::optional<std::uint64_t> number = whole(value);
  const bool listed =
      range.among.empty() || (number && std::ranges::binary_search(range.among, *number));
  if (number && listed && *number >= range.low && *number <= range.high) return *number;
  const bool inexact = value.is_number_float() && value.get<double>() > kLargestExact;
  wrong(path, value,
        allowed_integer(range, unit) + (inexact ? "; above 2^53 written with all its digits" : ""));
}

void Reader::visit_flag(const Field& info, bool& value) {
  const Json* const found = find(info, "true or false");
  if (found == nullptr) return;
  if (!found->is_boolean()) wrong(join(path_, info.key), *found, "true or false");
  value = found->get<bool>();
}

void Reader::visit_integer(const Field& info, std::uint64_t& value, Range<std::uint64_t> range) {
  const Json* const found = find(info, allowed_integer(range, info.unit));
  if (found != nullptr) value = integer(join(path_, info.key), *found, range, info.unit);
}

void Reader::visit_number(const Field& info, double& value, Range<double> range) {
  std::string allowed = allowed_number(range, info.unit);
  if (!info.zero.empty()) allowed += fmt::format(", or {}", info.zero);
  const Json* const found = find(info, allowed);
  if (found == nullptr) return;
  if (!info.zero.empty() && found->is_string() && found->get<std::string>() == info.zero) {
    value = 0;
    return;
  }
  // The comparison is written so that it refuses NaN too.
  if (!found->is_number() ||
      !(found->get<double>() >= range.low && found->get<double>() <= range.high)) {
    wrong(join(path_, info.key), *found, allowed);
  }
  value = found->get<double>();
}

void Reader::visit_text(const Field& info, std::string& value) {
  const Json* const found = find(info, "a text");
  if (found == nullptr) return;
  if (!found->is_string()) wrong(join(path_, info.key), *found, "a text");
  value = found->get<std::string>();
}

void Reader::visit_choice(const Field& info, std::string& value,
                          std::span<const std::string_view> allowed) {
  const Json* const found = find(info, list_of(allowed));
  if (found == nullptr) return;
  const std::string name = found->is_string() ? found->get<std::string>() : "";
  if (!contains(allowed, name)) {
    wrong(join(path_, info.key), *found, names_near(name, allowed));
  }
  value = name;
}

void Reader::visit_integers(const Field& info, std::vector<std::uint32_t>& values,
                            Range<std::uint32_t> range) {
  const Json* const found = find(info, "a list of integers");
  if (found == nullptr) return;
  const std::string path = join(path_, info.key);
  if (!found->is_array()) wrong(path, *found, "a list of integers");
  values.clear();
  for (std::size_t i = 0; i < found->size(); ++i) {
    values.push_back(static_cast<std::uint32_t>(
        integer(join(path, i), (*found)[i], {range.low, range.high}, info.unit)));
  }
}

void Reader::visit_file(const Field& info, std::string& path) {
  namespace fs = std::filesystem;
  const Json* const found = find(info, "a file's name");
  if (found == nullptr) return;
  const std::string key = join(path_, info.key);
  if (!found->is_string()) wrong(key, *found, "a file's name");
  const fs::path name = found->get<std::string>();
  const std::string& origin = layers_.origin(key);
  const bool from_file = !origin.starts_with("--") && fs::exists(origin);
  path = name.empty() || name.is_absolute() || !from_file
             ? name.string()
             : (fs::path(origin).parent_path() / name).lexically_normal().string();
  if (!path.empty() && !fs::exists(path)) {
    wrong(key, *found, fmt::format("a file that exists ({} does not)", path));
  }
}

void Reader::visit_group(const Field& info, bool* present, const Members& members) {
  const Json* const found = value_at(info.key);
  if (found != nullptr) require_read(info, *found);
  if (present != nullptr) *present = found != nullptr;
  if (found == nullptr && present != nullptr) return;
  const Json nothing = Json::object();
  Reader inner(layers_, found != nullptr ? *found : nothing, join(path_, info.key));
  inner.read_members(members);
}

void Reader::visit_list(const Field& info, std::size_t, const Resize& resize,
                        const Element& element) {
  const Json* const found = find(info, "a list of objects");
  if (found == nullptr) return;
  const std::string path = join(path_, info.key);
  if (!found->is_array()) wrong(path, *found, "a list of objects");
  resize(found->size());
  for (std::size_t i = 0; i < found->size(); ++i) {
    Reader inner(layers_, (*found)[i], join(path, i));
    inner.read_members([&](Fields& fields) { element(i, fields); });
  }
}

}  // namespace tessera::config
