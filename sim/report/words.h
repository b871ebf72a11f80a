#pragma once

#include <span>
#include <string>
#include <string_view>

/// The words of summary, report and page, explained once: `tessera explain`, the page's titles and
/// the tests read these tables. Config keys are explained by their own declarations
/// (sim/config/fields.h).
namespace tessera::report {

struct Word {
  std::string_view name;      ///< a key of report.json by dotted path, a column, or a word
  std::string_view sentence;  ///< its meaning and unit; ends without a full stop
  std::string_view from;      ///< where it comes from: statistic, formula or config key
};

/// A text that summary or page writes, and the word that it stands for.
struct Label {
  std::string_view text;
  std::string_view word;
};

std::span<const Word> report_words();  ///< keys of report.json, by section
std::span<const Word> run_words();     ///< words in a kernel's own facts: plan, workload, results
std::span<const Word> shown_words();   ///< other words of summary, page and CSV files
std::span<const Label> labels();

/// As words are compared: lower case, blanks for _ and -, a plain apostrophe.
std::string spoken(std::string_view text);

}  // namespace tessera::report
