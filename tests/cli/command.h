#pragma once

#include <filesystem>
#include <string>

namespace tessera::test {

/// What the program answered.
struct Answer {
  int code = 0;
  std::string out;
  std::string err;
};

/// A folder of its own for one test, removed afterwards, in which the built program is called.
class CommandFolder {
 public:
  CommandFolder();
  CommandFolder(const CommandFolder&) = delete;
  CommandFolder& operator=(const CommandFolder&) = delete;
  ~CommandFolder();

  void write(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::string read(const std::string& name) const;
  [[nodiscard]] bool has(const std::string& name) const;
  /// Calls the program with shell-quoted arguments in this folder.
  [[nodiscard]] Answer call(const std::string& arguments, const std::string& input = "") const;

 private:
  std::filesystem::path path_;
};

}  // namespace tessera::test
