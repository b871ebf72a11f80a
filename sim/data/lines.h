#pragma once

#include <algorithm>
#include <string_view>

#include "sim/base/errors.h"
#include "sim/base/sizes.h"

namespace tessera::data {

/// Walks over the lines of a text file and the words of a line; errors are UserErrors `name:line:
/// ...`.
class Lines {
 public:
  /// `blank` holds the characters that separate words.
  Lines(std::string_view text, std::string_view name, std::string_view blank = " \t\r")
      : rest_(text), name_(name), blank_(blank) {}

  /// Advances to the next line; false at the end of the file.
  bool next() {
    if (rest_.empty()) return false;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++number_;
    return true;
  }
  /// Advances to the next line that is neither blank nor a comment (%).
  bool next_with_data() {
    while (next()) {
      const std::size_t first = line_.find_first_not_of(blank_);
      if (first != std::string_view::npos && line_[first] != '%') return true;
    }
    return false;
  }
  /// The next word of this line, empty at its end.
  std::string_view word() {
    line_.remove_prefix(std::min(line_.find_first_not_of(blank_), line_.size()));
    const std::size_t end = std::min(line_.find_first_of(blank_), line_.size());
    const std::string_view found = line_.substr(0, end);
    line_.remove_prefix(end);
    return found;
  }
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> problem, Args&&... args) const {
    throw UserError("{}:{}: {}", name_, std::max<std::size_t>(number_, 1),
                    fmt::format(problem, std::forward<Args>(args)...));
  }
  template <class Number>
  Number number(std::string_view what, std::string_view allowed) {
    const std::string_view text = word();
    if (text.empty()) fail("{} is missing; expected {}", what, allowed);
    const auto value = number_in<Number>(text.substr(text.front() == '+' ? 1 : 0));
    if (!value) fail("{}: found '{}', expected {}", what, text, allowed);
    return *value;
  }
  void expect_end() {
    if (const std::string_view extra = word(); !extra.empty()) {
      fail("found '{}' after the last value of the line", extra);
    }
  }

 private:
  std::string_view rest_;
  std::string_view name_;
  std::string_view blank_;
  std::string_view line_;
  std::size_t number_ = 0;
};

}  // namespace tessera::data
