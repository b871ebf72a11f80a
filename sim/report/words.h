#pragma once

#include <span>
#include <string>
#include <string_view>

/// Explains each word of summary, report and page once: `tessera explain`, the page's tooltips and
/// the tests read these tables. Config keys are explained by their declarations
/// (sim/config/fields.h).
namespace tessera::report {

struct Word {
  std::string_view name;      ///< a key of report.json by dotted path, a column, or a word
  std::string_view sentence;  ///< its meaning and unit; ends without a full stop
  std::string_view from;      ///< its source: statistic, formula or config key
};

/// A text in summary or page, and the word it stands for.
struct Label {
  std::string_view text;
  std::string_view word;
};

std::span<const Word> report_words();  ///< keys of report.json, by section
std::span<const Word> run_words();     ///< words in a kernel's facts: plan, workload, results
std::span<const Word> shown_words();   ///< other words of summary, page and CSV files
std::span<const Label> labels();

/// Normalises a word for comparison: lower case, blanks for _ and -, a plain apostrophe.
std::string spoken(std::string_view text);

}  // namespace tessera::report
