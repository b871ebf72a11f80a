#pragma once

#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

#include "sim/config/json_text.h"

namespace tessera::test {

/// A headless Chromium of our own, with a fresh profile, spoken to through its DevTools pipe
/// (--remote-debugging-pipe: JSON messages, each ended by a zero byte, on file descriptors 3 and
/// 4). Whatever it answers too late or not at all is a std::runtime_error.
class Chromium {
 public:
  using Json = config::Json;

  [[nodiscard]] static bool installed();

  explicit Chromium(const std::filesystem::path& profile);
  Chromium(const Chromium&) = delete;
  Chromium& operator=(const Chromium&) = delete;
  ~Chromium();

  /// Opens a page of ours and waits until it has painted (its mark `painted`); forgets what other
  /// pages said and asked for.
  void open(const std::filesystem::path& page, bool dark = false);
  /// The value of a JavaScript expression; a promise is waited for.
  Json evaluate(const std::string& expression);
  /// Turns the wheel over a point of the window; down (more than 0) or up.
  void wheel(double x, double y, double by);
  void press(const std::string& key);
  /// Makes the window so large, and waits until the page has drawn anew.
  void resize(unsigned width, unsigned height);
  /// From now on the page looks as if it was printed.
  void print_look();
  /// Undoes resize() and print_look().
  void look_as_before();
  /// How many colours the window shows. Counted by the browser, from its own picture.
  std::size_t colours_shown();

  /// Console output of the page, exceptions, and the browser's log about it.
  [[nodiscard]] const std::vector<std::string>& complaints() const { return complaints_; }
  /// The addresses that the page asked for.
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
