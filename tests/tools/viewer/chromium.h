#pragma once

#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

#include "sim/config/json_text.h"

namespace tessera::test {

/// A headless Chromium process with a fresh profile, controlled through its DevTools pipe
/// (--remote-debugging-pipe: JSON messages, each ended by a zero byte, on file descriptors 3 and
/// 4). A missing or late answer throws std::runtime_error.
class Chromium {
 public:
  using Json = config::Json;

  [[nodiscard]] static bool installed();

  explicit Chromium(const std::filesystem::path& profile);
  Chromium(const Chromium&) = delete;
  Chromium& operator=(const Chromium&) = delete;
  ~Chromium();

  /// Opens one of our pages and waits until it has painted (its mark `painted`); clears
  /// complaints() and requests() of earlier pages.
  void open(const std::filesystem::path& page, bool dark = false);
  /// The value of a JavaScript expression; waits for a promise.
  Json evaluate(const std::string& expression);
  /// Turns the mouse wheel over a point of the window: down if `by` is positive, else up.
  void wheel(double x, double y, double by);
  void press(const std::string& key);
  /// Resizes the window, and waits until the page has redrawn.
  void resize(unsigned width, unsigned height);
  /// Emulates print media for the page from now on.
  void print_look();
  /// Undoes resize() and print_look().
  void look_as_before();
  /// The number of colours in the window, counted by the browser in a screenshot.
  std::size_t colours_shown();

  /// Console output of the page, exceptions, and the browser's log entries about it.
  [[nodiscard]] const std::vector<std::string>& complaints() const { return complaints_; }
  /// The addresses that the page requested.
  [[nodiscard]] const std::vector<std::string>& requests() const { return requests_; }

 private:
  void start(const std::filesystem::path& profile);
  Json call(const std::string& method, const Json& parameters = Json::object());
  Json receive();
  void note(const Json& event);

  pid_t process_ = 0;
  int to_ = -1;
  int from_ = -1;
  int number_ = 0;
  std::string session_;
  std::string buffer_;
  std::vector<std::string> complaints_;
  std::vector<std::string> requests_;
};

}  // namespace tessera::test
