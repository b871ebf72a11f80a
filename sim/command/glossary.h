#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/json_text.h"
#include "sim/program/catalogue.h"

namespace tessera::command {

/// Meaning and origin of a word.
struct Explanation {
  std::string name;  ///< paired is stalls.paired; machine.tile.contexts
  std::string sentence;
  std::string unit;  ///< empty: none
  std::string from;
  std::vector<std::string> kernels = {};  ///< whose config has the key; empty: no key of a kernel
};

/// All words of summary, report and page (sim/report/words.h) and all config keys, from their
/// declarations.
class Glossary {
 public:
  explicit Glossary(const Catalogue& catalogue);

  /// Finds by a name, a text of summary or page, or the last part of names. A path into report.json
  /// is found too where a shorter one of the same section explains it.
  [[nodiscard]] std::vector<const Explanation*> find(std::string_view word) const;
  /// Those whose names and sentences hold most of the words, each at the beginning of one there;
  /// none if they hold no word.
  [[nodiscard]] std::vector<const Explanation*> search(std::span<const std::string> words) const;
  [[nodiscard]] const std::vector<Explanation>& all() const { return all_; }
  /// Everything that find() knows, for completion and near misses.
  [[nodiscard]] std::vector<std::string> names() const;
  /// For a page of runs of these kernels: {"words": [[name, text]], "labels": {text: name}}.
  [[nodiscard]] config::Json titles(const std::vector<std::string>& kernels) const;

 private:
  /// Finds a path that is not a name itself.
  [[nodiscard]] std::vector<const Explanation*> find_path(const std::string& wanted) const;
  /// Adds those of whose name, as it is spoken, `is` holds.
  template <class Is>
  void take(std::vector<const Explanation*>& found, Is is) const;
  void add_keys(const config::Json& schema, const std::string& path, const std::string& kernel);

  std::vector<Explanation> all_;
  std::vector<std::string> spoken_;                          ///< the name of each
  std::vector<std::pair<std::string, std::string>> labels_;  ///< texts and their words, as spoken
};

}  // namespace tessera::command
