#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace tessera {

/// Exit codes of `tessera`.
enum class ExitCode {
  done = 0,
  check_failed = 1,
  user_error = 2,
  no_progress = 3,
  defect = 4,
  host_limit = 5,  ///< the host lacks memory, processes, disk space, ...
  interrupted = 130
};

/// Makes a message safe for a terminal: control characters (except tab and newline) and invalid
/// UTF-8 become `\x1b`-style escapes; a line above 1,600 bytes keeps its beginning and its end,
/// with the number of bytes left out. Idempotent.
std::string legible(std::string_view message);

/// Something that ends the run with one message on stderr and an exit code.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message)
      : std::runtime_error(legible(message)), code_(code) {}
  [[nodiscard]] ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// The user's mistake: a file, an option, a program that faults. The message names the file, what
/// was found and what is allowed.
class UserError : public Error {
 public:
  explicit UserError(const std::string& message) : Error(ExitCode::user_error, message) {}
  /// Formats its message, as the errors below do.
  template <class First, class... Args>
  explicit UserError(fmt::format_string<First, Args...> message, First&& first, Args&&... args)
      : UserError(fmt::format(message, std::forward<First>(first), std::forward<Args>(args)...)) {}
};

/// The user's mistake in a config: file, key path (`machine.tile.sram_kib`), what was found, what
/// is allowed. Prints as `file: key.path: found ..., allowed ...`.
class ConfigError : public UserError {
 public:
  ConfigError(const std::string& file, const std::string& key_path, const std::string& problem)
      : UserError("{}: {}: {}", file, key_path.empty() ? "(top level)" : key_path, problem) {}
  template <class First, class... Args>
  ConfigError(const std::string& file, const std::string& key_path,
              fmt::format_string<First, Args...> problem, First&& first, Args&&... args)
      : ConfigError(file, key_path,
                    fmt::format(problem, std::forward<First>(first), std::forward<Args>(args)...)) {
  }
};

/// The user's mistake in a config key that shows only when a kernel plans: the full key path
/// (`workload.plan.cuts`), what was found, what is allowed. The caller that holds the config turns
/// it into a ConfigError.
class KeyError : public UserError {
 public:
  KeyError(const std::string& key_path, const std::string& problem)
      : UserError("{}: {}", key_path, problem), key_path_(key_path), problem_(problem) {}
  template <class First, class... Args>
  KeyError(const std::string& key_path, fmt::format_string<First, Args...> problem, First&& first,
           Args&&... args)
      : KeyError(key_path,
                 fmt::format(problem, std::forward<First>(first), std::forward<Args>(args)...)) {}
  [[nodiscard]] const std::string& key_path() const { return key_path_; }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  std::string key_path_;
  std::string problem_;
};

/// The machine makes no progress or exceeds its limit; the message holds the state of every stuck
/// tile.
class NoProgress : public Error {
 public:
  explicit NoProgress(const std::string& message) : Error(ExitCode::no_progress, message) {}
};

/// Our own bug: a broken invariant, naming the module.
class Defect : public Error {
 public:
  explicit Defect(const std::string& message) : Error(ExitCode::defect, message) {}
};

/// Checks an internal invariant in every build: `check(count == 0, "fabric: {} transfers left",
/// count)`.
template <class... Args>
void check(bool holds, fmt::format_string<Args...> message, Args&&... args) {
  if (!holds) throw Defect(fmt::format(message, std::forward<Args>(args)...));
}

}  // namespace tessera
