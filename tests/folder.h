#pragma once

#include <filesystem>
#include <initializer_list>
#include <set>
#include <string>
#include <utility>

namespace tessera::test {

/// A temporary folder for one test; the destructor removes it.
class Folder {
 public:
  /// Creates the folder with these files: names and contents.
  Folder(std::initializer_list<std::pair<std::string, std::string>> files = {});
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// The path of a file in the folder, whether or not the file exists.
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  /// Writes a file, and creates its parent folder. Returns its path.
  std::string write(const std::string& name, const std::string& contents) const;
  /// The contents of a file; empty if it does not exist.
  [[nodiscard]] std::string read(const std::string& name) const;
  [[nodiscard]] bool has(const std::string& name) const;
  /// Names of all entries of the folder and its subfolders, without names that begin with a dot.
  [[nodiscard]] std::set<std::string> names() const;

 private:
  std::filesystem::path path_;
};

}  // namespace tessera::test
