#pragma once

#include <cstdint>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

/// A parsed value change dump.
struct Vcd {
  using Changes = std::vector<std::pair<std::uint64_t, std::string>>;  ///< {time, value}
  std::map<std::string, Changes> signals;                              ///< "tile_3.state"
  std::vector<std::string> comments;
};

/// Throws std::runtime_error for invalid VCD, such as decreasing times or undeclared signals.
inline Vcd read_vcd(const std::string& text) {
  Vcd vcd;
  std::map<std::string, std::string> names;
  std::vector<std::string> scopes;
  std::uint64_t now = 0;
  std::istringstream in(text);
  const auto skip_to_end = [&in] {
    std::string all;
    for (std::string word; in >> word && word != "$end";) all += (all.empty() ? "" : " ") + word;
    return all;
  };
  for (std::string word; in >> word;) {
    if (word == "$comment") {
      vcd.comments.push_back(skip_to_end());
    } else if (word == "$scope") {
      in >> word >> word;
      scopes.push_back(word);
      skip_to_end();
    } else if (word == "$upscope") {
      scopes.pop_back();
      skip_to_end();
    } else if (word == "$var") {
      std::string type, bits, id, name;
      in >> type >> bits >> id >> name;
      skip_to_end();
      if (!names.emplace(id, scopes.back() + "." + name).second)
        throw std::runtime_error("vcd: an id twice");
      vcd.signals[scopes.back() + "." + name] = {};
    } else if (word[0] == '$') {
      skip_to_end();
    } else if (word[0] == '#') {
      const std::uint64_t at = std::stoull(word.substr(1));
      if (at < now) throw std::runtime_error("vcd: time goes back");
      now = at;
    } else if (word[0] == 's' || word[0] == 'b') {
      std::string id;
      in >> id;
      if (names.count(id) == 0) throw std::runtime_error("vcd: no signal " + id);
      vcd.signals.at(names.at(id)).emplace_back(now, word.substr(1));
    } else {
      throw std::runtime_error("vcd: found " + word);
    }
  }
  return vcd;
}

}  // namespace tessera::test
