#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "sim/base/errors.h"

namespace tessera::command {

/// An option or argument of a command, and the variable that receives it.
struct Option {
  /// A list takes one value per occurrence; an argument or a list with a separator takes several.
  /// An optional text may be given as an empty one.
  using Into = std::variant<std::string*, std::vector<std::string>*, unsigned*, bool*,
                            std::optional<std::string>*>;

  const char* name;  ///< "--out"; for an argument "CONFIG"
  Into into;
  const char* help;
  bool required = false;
  int most = 0;                                           ///< largest number allowed; 0: no limit
  char separator = '\0';                                  ///< separates values of a list
  std::function<std::vector<std::string>()> values = {};  ///< choices; null: not listed

  [[nodiscard]] bool named() const { return name[0] == '-'; }
  [[nodiscard]] bool takes_value() const { return !std::holds_alternative<bool*>(into); }
};

/// The option with its choices.
inline Option choosing(Option option, std::function<std::vector<std::string>()> values) {
  option.values = std::move(values);
  return option;
}

/// A command of the command line, declared in the file that implements it.
struct Command {
  const char* name;
  const char* help;
  std::vector<Option> options;
  std::function<ExitCode()> carry_out;  ///< called once the options hold their values
};

inline constexpr bool kRequired = true;
inline constexpr int kMostJobs = 1024;
/// `jobs`, or the number of cores if it is 0.
inline unsigned jobs_or_cores(unsigned jobs) {
  return jobs > 0 ? jobs : std::max(1U, std::thread::hardware_concurrency());
}
inline constexpr const char* kProgramHelp = "a simulator of manycore MIMD machines";

}  // namespace tessera::command
