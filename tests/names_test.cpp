#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/config/json_text.h"
#include "tests/cli/command.h"

/// No source file outside the kernels' folders, their tests and the catalogue names a kernel:
/// others get facts about a kernel from the catalogue or kernels/NAME/points.json.
namespace {

namespace fs = std::filesystem;

/// Names that are also words of machines and programs, such as `tile.latency`: they only count in
/// forms that can only mean a kernel (an include, a namespace, a config).
constexpr std::array<std::string_view, 3> kWords = {"latency", "matrix_unit", "stream"};

constexpr std::array<std::string_view, 10> kEndings = {".cpp", ".h",  ".S",     ".s",  ".inc",
                                                       ".c",   ".sh", ".cmake", ".js", ".py"};

std::vector<std::string> kernel_names() {
  const tessera::test::CommandFolder folder;
  std::istringstream lines(folder.call("list workloads").out);
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);)
    names.push_back(line.substr(0, line.find(' ')));
  return names;
}

/// Path from the top of the tree; empty for kernels' folders, their tests, and the catalogue.
std::string checked_path(const fs::path& file) {
  const std::string path = fs::relative(file, TESSERA_SOURCE).generic_string();
  for (const std::string_view top : {"kernels/", "tests/kernels/"})
    if (path.starts_with(top) && path.find('/', top.size()) != std::string::npos) return "";
  return path == "kernels/catalogue.cpp" ? "" : path;
}

bool is_source(const fs::path& file) {
  if (file.filename() == "CMakeLists.txt") return true;
  const std::string ending = file.extension();
  if (ending.empty()) return tessera::config::read_text(file).starts_with("#!");
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

std::set<std::string> source_files() {
  std::set<std::string> files = {"CMakeLists.txt"};
  for (const char* folder : {"sim", "models", "kernels", "tests", "tools"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TESSERA_SOURCE) / folder))
      if (entry.is_regular_file() && is_source(entry.path()))
        if (const std::string path = checked_path(entry.path()); !path.empty()) files.insert(path);
  return files;
}

/// The position after the first `closing` at or after `at`; in strings a backslash escapes.
std::size_t behind(const std::string& text, std::size_t at, std::string_view closing) {
  for (; at < text.size(); ++at) {
    if (std::string_view(text).substr(at).starts_with(closing)) return at + closing.size();
    if (text[at] == '\\' && closing == "\"") ++at;
  }
  return text.size();
}

/// Replaces comments by blanks: C++ comments, or (`hash`) those from # on.
std::string without_comments(std::string text, bool hash) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    const bool begins = at == 0 || std::isspace(static_cast<unsigned char>(text[at - 1])) != 0;
    const bool line = hash ? begins && rest.front() == '#' : rest.starts_with("//");
    const std::size_t begin = at;
    if (rest.starts_with("R\"(")) {
      at = behind(text, at, ")\"");
    } else if (rest.front() == '"') {
      at = behind(text, at + 1, "\"");
    } else if (line || (!hash && rest.starts_with("/*"))) {
      at = behind(text, at, line ? "\n" : "*/");
      std::replace_if(
          text.begin() + static_cast<std::ptrdiff_t>(begin),
          text.begin() + static_cast<std::ptrdiff_t>(at), [](char c) { return c != '\n'; }, ' ');
    } else {
      ++at;
    }
  }
  return text;
}

bool is_part_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// True if the whole word at `at` means a kernel.
bool means_kernel(std::string_view text, std::size_t at, const std::string& name) {
  if (std::find(kWords.begin(), kWords.end(), name) == kWords.end()) return true;
  const std::string_view before = text.substr(0, at);
  const std::string_view after = text.substr(at + name.size());
  return before.ends_with("kernels/") || after.starts_with("::") || after.starts_with(".json") ||
         before.ends_with("\"kernel\": \"") || before.ends_with("{\"kernel\", \"");
}

/// Adds "file:line: name" for each occurrence of a name in the file.
void add_occurrences(const std::string& path, const std::vector<std::string>& names,
                     std::vector<std::string>& found) {
  const bool hash = !path.ends_with(".cpp") && !path.ends_with(".h") && !path.ends_with(".js") &&
                    !path.ends_with(".inc") && !path.ends_with(".c") && !path.ends_with(".S");
  const std::string text = without_comments(
      tessera::config::read_text(fmt::format("{}/{}", TESSERA_SOURCE, path)), hash);
  for (const std::string& name : names) {
    for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += name.size()) {
      const std::size_t end = at + name.size();
      const bool whole = (at == 0 || !is_part_of_word(text[at - 1])) &&
                         (end == text.size() || !is_part_of_word(text[end]));
      if (!whole || !means_kernel(text, at, name)) continue;
      const auto line =
          1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
      found.push_back(fmt::format("{}:{}: {}", path, line, name));
    }
  }
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("comments go, what looks like one in a string stays") {
    CHECK(without_comments("a // b\n\"// c\" /* d */ e", false) == "a     \n\"// c\"         e");
    CHECK(without_comments("a # b\nc#d", true) == "a    \nc#d");
  }

  TEST_CASE("no source file outside a kernel's folder, its tests and the catalogue names it") {
    const std::vector<std::string> names = kernel_names();
    REQUIRE(names.size() > 5);
    std::vector<std::string> found;
    for (const std::string& path : source_files()) add_occurrences(path, names, found);
    for (const std::string& each : found)
      FAIL_CHECK(each << " (if it means no kernel, the name goes into kWords)");
  }
}
