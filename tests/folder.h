#pragma once

#include <filesystem>
#include <initializer_list>
#include <set>
#include <string>
#include <utility>

namespace tessera::test {

/// A folder of its own for one test, removed afterwards.
class Folder {
 public:
  /// With these files: names and contents.
  Folder(std::initializer_list<std::pair<std::string, std::string>> files = {});
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// The path of a file in it, which need not be there.
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  /// Writes a file, and makes the folder that it lies in. Returns its path.
  std::string write(const std::string& name, const std::string& contents) const;
  /// Empty if there is no such file.
  [[nodiscard]] std::string read(const std::string& name) const;
  [[nodiscard]] bool has(const std::string& name) const;
  /// Names of all entries of it and its folders, but for names that begin with a dot.
  [[nodiscard]] std::set<std::string> names() const;

 private:
  std::filesystem::path path_;
};

}  // namespace tessera::test
