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

constexpr double kLargestExact = 0x1p53;  // doubles hold every integer below this

/// Converts `value` to an integer; 1e3 and 100.0 are integers too, as in JSON Schema.
std::optional<std::uint64_t> whole(const Json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (!value.is_number() || value.get<double>() < 0) return std::nullopt;
  const auto number = value.get<double>();
  if (number > kLargestExact || number != std::floor(number)) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

}  // namespace

void Reader::read_members(const Members& members, const std::vector<std::string>& also) {
  std::vector<std::string> keys;
  each_member(members,
              [&](const Field& info, const Held& /*held*/) { keys.emplace_back(info.key); });
  keys.insert(keys.end(), also.begin(), also.end());
  if (!values_->is_object()) wrong(path_, *values_, "an object {...}");
  refuse_unknown(keys);
  members(*this);
}

void Reader::refuse_unknown(const std::vector<std::string>& known) const {
  for (const auto& [key, value] : values_->items()) {
    if (key.starts_with("//") || contains(known, key)) continue;
    const std::string path = join(path_, key);
    throw ConfigError(layers_.origin(path), path, "found an unknown key, allowed {}",
                      names_near(key, known));
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
  if (info.unused_with.empty()) return;
  const std::string because = join(path_, info.unused_with);
  const std::string last = layers_.latest(join(path_, info.key));
  if (!layers_.not_below(last, because)) return;
  const Json* const value = find_at(layers_.value(), last);
  throw layers_.mistake(last,
                        fmt::format("found {}, which nothing reads as {} stands; leave it out",
                                    shown(value != nullptr ? *value : found), because));
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
    throw ConfigError(layers_.origin(path), path, "is missing ({}), allowed {}", info.sentence,
                      allowed);
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

const Json* Reader::find(const Field& info, const std::string& allowed, Is is) {
  const Json* const found = find(info, allowed);
  if (found != nullptr && !(found->*is)()) wrong(join(path_, info.key), *found, allowed);
  return found;
}

template <class Use>
void Reader::each_element(const Field& info, const char* allowed, const Use& use) {
  const Json* const found = find(info, allowed, &Json::is_array);
  for (std::size_t i = 0; found != nullptr && i < found->size(); ++i)
    use(join(join(path_, info.key), i), (*found)[i]);
}

void Reader::take(const Field& info, const Flag& flag) {
  if (const Json* const found = find(info, "true or false", &Json::is_boolean))
    flag.value = found->get<bool>();
}

void Reader::take(const Field& info, const Integer& kind) {
  const Json* const found = find(info, allowed_integer(kind.range, info.unit));
  if (found != nullptr) kind.value = integer(join(path_, info.key), *found, kind.range, info.unit);
}

void Reader::take(const Field& info, const Number& number) {
  std::string allowed = allowed_number(number.range, info.unit);
  if (!info.zero.empty()) allowed += fmt::format(", or {}", info.zero);
  const Json* const found = find(info, allowed);
  if (found == nullptr) return;
  if (!info.zero.empty() && found->is_string() && found->get<std::string>() == info.zero) {
    number.value = 0;
    return;
  }
  // Written so that NaN is refused too.
  if (!found->is_number() ||
      !(found->get<double>() >= number.range.low && found->get<double>() <= number.range.high)) {
    wrong(join(path_, info.key), *found, allowed);
  }
  number.value = found->get<double>();
}

void Reader::take(const Field& info, const Text& text) {
  if (const Json* const found = find(info, "a text", &Json::is_string))
    text.value = found->get<std::string>();
}

void Reader::take(const Field& info, const Choice& choice) {
  const Json* const found = find(info, list_of(choice.allowed));
  if (found == nullptr) return;
  const std::string name = found->is_string() ? found->get<std::string>() : "";
  if (!contains(choice.allowed, name)) {
    wrong(join(path_, info.key), *found, names_near(name, choice.allowed));
  }
  choice.value = name;
}

void Reader::take(const Field& info, const File& file) {
  namespace fs = std::filesystem;
  const Json* const found = find(info, "a file's name", &Json::is_string);
  if (found == nullptr) return;
  const std::string key = join(path_, info.key);
  const fs::path name = found->get<std::string>();
  const std::string& origin = layers_.origin(key);
  const bool from_file = !origin.starts_with("--") && fs::exists(origin);
  file.value = name.empty() || name.is_absolute() || !from_file
                   ? name.string()
                   : (fs::path(origin).parent_path() / name).lexically_normal().string();
  if (!file.value.empty() && !fs::exists(file.value)) {
    wrong(key, *found, fmt::format("a file that exists ({} does not)", file.value));
  }
}

void Reader::take(const Field& info, const Integers& integers) {
  const Range<std::uint64_t> range{integers.range.low, integers.range.high};
  if (given(info.key)) integers.value.clear();
  each_element(info, "a list of integers", [&](const std::string& path, const Json& value) {
    integers.value.push_back(static_cast<std::uint32_t>(integer(path, value, range, info.unit)));
  });
}

void Reader::take(const Field& info, const Numbers& numbers) {
  if (given(info.key)) numbers.value.clear();
  each_element(info, "a list of numbers", [&](const std::string& path, const Json& value) {
    if (!value.is_number()) wrong(path, value, "a number");
    numbers.value.push_back(value.get<double>());
  });
}

void Reader::take(const Field& info, const Texts& texts) {
  if (given(info.key)) texts.value.clear();
  each_element(info, "a list of texts", [&](const std::string& path, const Json& value) {
    if (!value.is_string()) wrong(path, value, "a text");
    texts.value.push_back(value.get<std::string>());
  });
}

void Reader::take(const Field& info, const AnyObject& object) {
  if (const Json* const found = find(info, "an object {...}", &Json::is_object))
    object.value = *found;
}

void Reader::take(const Field& info, const AnyList& list) {
  if (const Json* const found = find(info, "a list [...]", &Json::is_array)) list.value = *found;
}

void Reader::take(const Field& info, const Group& group) {
  const Json* const found = value_at(info.key);
  if (found != nullptr) require_read(info, *found);
  if (group.present != nullptr) *group.present = found != nullptr;
  if (found == nullptr && group.present != nullptr) return;
  const Json nothing = Json::object();
  Reader inner(layers_, found != nullptr ? *found : nothing, join(path_, info.key));
  inner.read_members(group.members);
}

void Reader::take(const Field& info, const List& list) {
  const Json* const all = find(info, "a list of objects", &Json::is_array);
  if (all != nullptr) list.resize(all->size());
  std::size_t i = 0;
  each_element(info, "a list of objects", [&](const std::string& path, const Json& value) {
    Reader(layers_, value, path).read_members([&](Fields& fields) { list.element(i, fields); });
    ++i;
  });
}

}  // namespace tessera::config
