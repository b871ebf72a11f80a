#pragma once

#include <map>
#include <string>

namespace tessera::test {

/// A message as `protoc --decode` prints it: fields by name, each with a text or a message.
struct Decoded {
  std::string text;
  std::multimap<std::string, Decoded> fields;

  [[nodiscard]] const Decoded& at(const std::string& name) const {
    return fields.find(name)->second;
  }
  [[nodiscard]] bool has(const std::string& name) const { return fields.count(name) != 0; }
  [[nodiscard]] std::string value(const std::string& name) const {
    return has(name) ? at(name).text : "0";
  }
};

/// Reads `name: value`, `name: "text"` and `name { ... }` up to the closing brace or the end.
inline Decoded read_decoded(const std::string& text, std::size_t& at) {
  Decoded message;
  while (true) {
    at = text.find_first_not_of(" \n", at);
    if (at == std::string::npos) return message;
    if (text[at] == '}') {
      ++at;
      return message;
    }
    const std::size_t end = text.find_first_of(": ", at);
    const std::string name = text.substr(at, end - at);
    Decoded value;
    if (text[end] == ':') {
      at = text.find('\n', end);
      value.text = text.substr(end + 2, at - end - 2);
      if (value.text.front() == '"') value.text = value.text.substr(1, value.text.size() - 2);
    } else {
      at = text.find('{', end) + 1;
      value = read_decoded(text, at);
    }
    message.fields.emplace(name, std::move(value));
  }
}

}  // namespace tessera::test
