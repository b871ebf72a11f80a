#include "tests/folder.h"

#include <atomic>
#include <fstream>
#include <iterator>
#include <unistd.h>

#include <fmt/format.h>

namespace tessera::test {
namespace fs = std::filesystem;

namespace {

fs::path unused_path() {
  static std::atomic<unsigned> count = 0;
  return fs::temp_directory_path() / fmt::format("tessera-test-{}-{}", ::getpid(), ++count);
}

}  // namespace

Folder::Folder(std::initializer_list<std::pair<std::string, std::string>> files)
    : path_(unused_path()) {
  fs::remove_all(path_);
  fs::create_directories(path_);
  for (const auto& [name, contents] : files) write(name, contents);
}

Folder::~Folder() { fs::remove_all(path_); }

std::string Folder::write(const std::string& name, const std::string& contents) const {
  fs::create_directories((path_ / name).parent_path());
  std::ofstream(path_ / name, std::ios::binary) << contents;
  return file(name);
}

std::string Folder::read(const std::string& name) const {
  std::ifstream in(path_ / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool Folder::has(const std::string& name) const { return fs::exists(path_ / name); }

std::set<std::string> Folder::names() const {
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(path_)) {
    const std::string name = entry.path().lexically_relative(path_).string();
    if (!name.starts_with('.')) names.insert(name);
  }
  return names;
}

}  // namespace tessera::test
