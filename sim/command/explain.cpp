#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/command/commands.h"
#include "sim/command/glossary.h"
#include "sim/config/nearest.h"
#include "sim/report/words.h"

namespace tessera::command {
namespace {

/// Prints names in lines of limited width below a heading.
void print_names(const char* heading, const std::vector<std::string>& names) {
  constexpr std::size_t kWidth = 100;
  std::string line;
  fmt::print("{}:\n", heading);
  for (const std::string& name : names) {
    if (!line.empty() && line.size() + name.size() > kWidth - 4) {
      fmt::print("  {}\n", line);
      line.clear();
    }
    line += (line.empty() ? "" : ", ") + name;
  }
  fmt::print("  {}\n", line);
}

std::vector<std::string> names_in(std::span<const report::Word> words) {
  return mapped(words, [](const report::Word& word) { return std::string(word.name); });
}

void print_words(const Glossary& glossary) {
  std::vector<std::string> keys;
  for (const Explanation& each : glossary.all())
    if (each.from.starts_with("config key") && !contains(keys, each.name))
      keys.push_back(each.name);
  print_names("words of the summary and the page", names_in(report::shown_words()));
  print_names("as written there", mapped(report::labels(), [](const report::Label& label) {
                return std::string(label.text);
              }));
  print_names("keys of report.json", names_in(report::report_words()));
  print_names("keys that kernels add to the report", names_in(report::run_words()));
  print_names("config keys", keys);
}

/// Names that a shell needs no quotes for.
std::vector<std::string> plain_names(const Glossary& glossary) {
  std::vector<std::string> names = glossary.names();
  std::erase_if(names, [](const std::string& name) {
    return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") != std::string::npos;
  });
  return names;
}

/// Prints a word's meaning, unit and source; without a word, all words.
ExitCode explain(const std::vector<std::string>& words, const Simulator& simulator) {
  const Glossary glossary(simulator.catalogue);
  if (words.empty()) {
    print_words(glossary);
    return ExitCode::done;
  }
  const std::string word = fmt::format("{}", fmt::join(words, " "));
  std::vector<const Explanation*> found = glossary.find(word);
  const bool is_path = word.find('.') != word.npos;
  std::vector<const Explanation*> described;
  if (!is_path) described = glossary.search(words);
  std::erase_if(described, [&](const Explanation* each) { return contains(found, each); });
  constexpr std::size_t kMost = 12;
  const bool by_name = !found.empty();
  if (!by_name && !described.empty()) {
    fmt::print("no name is {}; found in the descriptions of {}{}\n", word,
               counted(described.size(), "name"),
               described.size() > kMost ? fmt::format("; the first {}:", kMost) : "");
    found = slice(described, 0, std::min(kMost, described.size()));
  }
  if (found.empty()) {
    throw UserError(
        "tessera explain: found {}, allowed a word of summary, report or page, or a config key "
        "(tessera explain lists them){}",
        word, config::did_you_mean(word, glossary.names()));
  }
  for (const Explanation* each : found) {
    const std::string unit = each->unit.empty() ? "" : fmt::format(" [{}]", each->unit);
    fmt::print("{}{}\n  {}\n  from: {}\n", each->name, unit, each->sentence, each->from);
  }
  if (by_name && !described.empty() && described.size() <= kMost)
    fmt::print("described by it: {}\n", fmt::join(mapped(described, &Explanation::name), ", "));
  return ExitCode::done;
}

}  // namespace

Command explain_command(const Simulator& simulator) {
  const auto words = std::make_shared<std::vector<std::string>>();
  return {"explain",
          "explain a word of summary, report or page, and its source",
          {choosing({"WORD", words.get(),
                     "a word, such as paired, lower bound, time.cycles or machine.tile.contexts, "
                     "or words of its description (default: list all)"},
                    [&simulator] { return plain_names(Glossary(simulator.catalogue)); })},
          [words, &simulator] { return explain(*words, simulator); }};
}

}  // namespace tessera::command
