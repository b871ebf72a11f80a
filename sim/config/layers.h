#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/errors.h"
#include "sim/config/json_text.h"
#include "sim/config/presets.h"

/// How one config comes together: a file, what it extends, presets and `--set`. Objects merge,
/// lists and everything else replace. Every value knows where it came from, for messages.
namespace tessera::config {

/// A merged config and the origin (file, preset or option) of each part.
class Layers {
 public:
  Layers() : Layers(nullptr, "") {}
  Layers(Json value, std::string origin)
      : value_(std::move(value)), root_(std::move(origin)), order_{root_} {}

  [[nodiscard]] const Json& value() const { return value_; }
  /// Where the value at `path` came from: a file name, "preset bow" or "--set a=1".
  [[nodiscard]] const std::string& origin(const std::string& path) const;
  /// A value that does not go with others, which `problem` may name: the mistake is of where it
  /// came from or, as a preset's values go together, of what is laid over the preset nearest to it.
  [[nodiscard]] ConfigError mistake(const std::string& path, const std::string& problem) const;
  /// True if the value at `path` was laid here with or after that at `other`, both of them given.
  [[nodiscard]] bool not_below(const std::string& path, const std::string& other) const;
  /// The path, at `path` or below it, whose value was laid last; `path` if all was laid together.
  [[nodiscard]] std::string latest(const std::string& path) const;
  /// The part at top-level key `key`, with its origins, as layers of its own.
  [[nodiscard]] Layers section(const std::string& key) const;
  void replace_section(const std::string& key, const Layers& part);
  void remove(const std::string& key);

  /// Lays `over` upon this.
  void merge(const Layers& over);
  /// `--set path=text`: the text is JSON if it parses, else a string. An element of a list that a
  /// machine's preset has waits for it; a machine given by name becomes one that extends it. What
  /// was set below `path` before stays: a machine may be chosen behind its keys. Throws UserError
  /// that says where a path is bad.
  void set(const std::string& assignment);
  void set(const std::string& path, Json value, const std::string& origin);
  /// Sets what waited for the machine's lists. Throws UserError as `set` does.
  void set_waiting();

 private:
  [[nodiscard]] std::ptrdiff_t height(const std::string& origin) const;
  [[nodiscard]] const std::string& blamed(const std::string& path, std::string_view problem) const;
  void merge_at(Json& into, const Json& from, const Layers& over, const std::string& path);
  void take_origins(const Layers& over, const std::string& path);
  void forget_below(const std::string& path);
  void lay_over(const std::vector<std::string>& order);

  void set_or_wait(const std::string& path, Json value, const std::string& origin, bool waits);

  struct Set {
    std::string path;
    Json value;
    std::string origin;
  };

  Json value_;
  std::string root_;
  std::vector<std::string> order_;  ///< origins, the lowest first; options apart, which are above
  std::map<std::string, std::string> origins_;  ///< by key path; a path's own or nearest parent's
  std::vector<Set> waiting_;                    ///< in the order given
  std::vector<Set> laid_;                       ///< assignments in force
};

/// Reads `file` ("-": standard input) and the files that its top-level `extends` names, relative to
/// the file's folder. A machine's name becomes {"extends": name}, and a machine that extends
/// something replaces the one of the file below. Throws ConfigError on cycles.
Layers load_layers(const std::string& file);

/// Makes a machine given by name alone an object: "bow" to {"extends": "bow"}.
void machine_name_to_extends(Layers& layers);

/// Resolves the `extends` of a machine: a preset's name or a file, to any depth.
Layers extend_machine(const Layers& machine, Presets presets);

/// True if a file holds a machine, as those of configs/machines do, rather than a run.
bool is_machine_file(const std::string& file, Presets presets);

/// The machine of such a file with what it extends; key paths begin with its own keys.
Layers load_machine_layers(const std::string& file, Presets presets);

}  // namespace tessera::config
