#include "mutations.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace tessera::fuzz {
namespace {

constexpr std::array<const char*, 12> kNumbers = {"0",
                                                  "-1",
                                                  "1",
                                                  "2147483648",
                                                  "4294967295",
                                                  "4294967296",
                                                  "9007199254740993",
                                                  "1e308",
                                                  "1e-320",
                                                  "18446744073709551615",
                                                  "-9223372036854775808",
                                                  "0.5"};

void change_number(std::string& text, Choices& choices) {
  const std::size_t from = choices.below(text.size());
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto begin =
      std::find_if(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), is_digit);
  const auto end = std::find_if_not(begin, text.end(), is_digit);
  text.replace(begin, end, choices.of(kNumbers));
}

void change_once(std::string& text, Choices& choices) {
  if (text.empty()) return;
  const std::size_t at = choices.below(text.size());
  const std::size_t length = 1 + choices.below(std::min<std::size_t>(64, text.size() - at));
  switch (choices.below(6)) {
    case 0:
      text[at] = static_cast<char>(text[at] ^ (1 << choices.below(8)));
      break;
    case 1:
      text[at] = static_cast<char>(choices.below(256));
      break;
    case 2:
      text.erase(at, length);
      break;
    case 3:
      text.insert(at, text.substr(at, length));
      break;
    case 4:
      text.resize(at);
      break;
    default:
      change_number(text, choices);
  }
}

void collect(Json& json, std::vector<Json*>& values) {
  values.push_back(&json);
  if (!json.is_structured()) return;
  for (Json& inner : json) collect(inner, values);
}

}  // namespace

std::uint64_t power_of_two(Choices& choices) {
  return std::uint64_t{1} << choices.below(choices.once_in(4) ? 34 : 12);
}

std::uint64_t size(Choices& choices) {
  const std::uint64_t power = power_of_two(choices);
  return power + choices.below(3) - (power > 1 ? 1 : 0);
}

Json value(Choices& choices) {
  switch (choices.below(8)) {
    case 0:
      return nullptr;
    case 1:
      return choices.once_in(2);
    case 2:
      return Json::array({size(choices)});
    case 3:
      return Json::object({{"a", 1}});
    case 4:
      return std::string(choices.below(3) * 150, 'x');
    case 5:
      return -static_cast<std::int64_t>(size(choices));
    case 6:
      return Json::parse(choices.of(kNumbers));
    default:
      return size(choices);
  }
}

std::string mutated(std::string text, Choices& choices) {
  for (std::size_t times = 1 + choices.below(4); times > 0; --times) change_once(text, choices);
  return text;
}

Json mutated(Json json, Choices& choices) {
  for (std::size_t times = 1 + choices.below(3); times > 0; --times) {
    std::vector<Json*> values;
    collect(json, values);
    Json& chosen = *choices.of(values);
    if (chosen.is_object() && !chosen.empty()) {
      const auto entry =
          std::next(chosen.begin(), static_cast<std::ptrdiff_t>(choices.below(chosen.size())));
      const std::pair<std::string, Json> taken(entry.key(), entry.value());
      chosen.erase(entry);
      if (choices.once_in(2)) chosen[mutated(taken.first, choices)] = taken.second;
    } else if (chosen.is_number_integer() && !choices.once_in(4)) {
      chosen = size(choices);
    } else {
      chosen = value(choices);
    }
  }
  return json;
}

}  // namespace tessera::fuzz
