#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/json_text.h"
#include "sim/program/catalogue.h"

namespace tessera::command {

/// Meaning and source of a word.
struct Explanation {
  std::string name;  ///< stalls.paired; machine.tile.contexts
  std::string sentence;
  std::string unit;  ///< empty: none
  std::string from;
  std::vector<std::string> kernels = {};  ///< those with the key; empty: not a kernel's
};

/// All words of summary, report and page (sim/report/words.h) and all config keys, from their
/// declarations.
class Glossary {
 public:
  explicit Glossary(const Catalogue& catalogue);

  /// Finds by name, by a text of summary or page, or by the last part of a name. A path into
  /// report.json is also found by a shorter path of the same section that explains it.
  [[nodiscard]] std::vector<const Explanation*> find(std::string_view word) const;
  /// The entries whose names and sentences match the most words, each as the start of a word; none
  /// if nothing matches.
  [[nodiscard]] std::vector<const Explanation*> search(std::span<const std::string> words) const;
  [[nodiscard]] const std::vector<Explanation>& all() const { return all_; }
  /// Everything that find() accepts, for completion and near misses.
  [[nodiscard]] std::vector<std::string> names() const;
  /// For a page of runs of these kernels: {"words": [[name, text]], "labels": {text: name}}.
  [[nodiscard]] config::Json titles(const std::vector<std::string>& kernels) const;

 private:
  /// Finds a path that is not a name itself.
  [[nodiscard]] std::vector<const Explanation*> find_path(const std::string& wanted) const;
  /// Adds the entries whose name, as spoken(), satisfies `is`.
  template <class Is>
  void take(std::vector<const Explanation*>& found, Is is) const;
  void add_keys(const config::Json& schema, const std::string& path, const std::string& kernel);

  std::vector<Explanation> all_;
  std::vector<std::string> spoken_;                          ///< spoken(name) of each
  std::vector<std::pair<std::string, std::string>> labels_;  ///< texts, words: both as spoken()
};

}  // namespace tessera::command
