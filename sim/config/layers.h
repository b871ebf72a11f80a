#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/errors.h"
#include "sim/config/json_text.h"
#include "sim/config/presets.h"

/// A config is merged from layers: a file, the files it extends, presets and `--set`. Objects
/// merge, lists and other values replace. Every value keeps its origin for messages.
namespace tessera::config {

/// A merged config and the origin (file, preset or option) of each part.
class Layers {
 public:
  Layers() : Layers(nullptr, "") {}
  Layers(Json value, std::string origin)
      : value_(std::move(value)), root_(std::move(origin)), order_{root_} {}

  [[nodiscard]] const Json& value() const { return value_; }
  /// The origin of the value at `path`: a file name, "preset bow" or "--set a=1".
  [[nodiscard]] const std::string& origin(const std::string& path) const;
  /// An error for a value that conflicts with others, which `problem` may name. Blames the value's
  /// origin; for a preset, whose values fit together, blames the nearest value that overrides it,
  /// in another section only if the problem names it.
  [[nodiscard]] ConfigError mistake(const std::string& path, const std::string& problem) const;
  /// True if the value at `path` was set in the same layer as that at `other` or in a later one.
  [[nodiscard]] bool not_below(const std::string& path, const std::string& other) const;
  /// The path, at or below `path`, whose value was set last; `path` if all are of one layer.
  [[nodiscard]] std::string latest(const std::string& path) const;
  /// The section of top-level key `key`, with its origins.
  [[nodiscard]] Layers section(const std::string& key) const;
  void replace_section(const std::string& key, const Layers& part);
  void remove(const std::string& key);

  /// Merges `over` on top.
  void merge(const Layers& over);
  /// `--set path=text`: the text is JSON if it parses, else a string. An element of a machine's
  /// list is deferred until the preset's list is known (set_waiting). A machine given by name
  /// becomes one that extends it. Choosing a machine keeps keys set below it before. Throws
  /// UserError that tells where a path is wrong.
  void set(const std::string& assignment);
  void set(const std::string& path, Json value, const std::string& origin);
  /// Applies the deferred assignments to machine lists. Throws UserError as set() does.
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
  std::vector<std::string> order_;  ///< origins, lowest first; options, not listed, rank highest
  std::map<std::string, std::string> origins_;  ///< by key path, own or nearest parent's
  std::vector<Set> waiting_;                    ///< deferred, in the order given
  std::vector<Set> laid_;                       ///< assignments in force
};

/// Reads `file` ("-": standard input) and the files that its top-level `extends` names, relative to
/// the file's folder. A machine's name becomes {"extends": name}; a machine that extends another
/// replaces the machine of the lower file. Throws ConfigError on cycles.
Layers load_layers(const std::string& file);

/// Turns a machine given by name into an object: "bow" into {"extends": "bow"}.
void machine_name_to_extends(Layers& layers);

/// Resolves a machine's `extends`: a preset's name or a file, to any depth.
Layers extend_machine(const Layers& machine, Presets presets);

/// True if a file holds a machine, like those of configs/machines, rather than a run.
bool is_machine_file(const std::string& file, Presets presets);

/// The machine of such a file and what it extends; key paths start at the machine's own keys.
Layers load_machine_layers(const std::string& file, Presets presets);

}  // namespace tessera::config
