#include "tools/fuzzing/faults/source_code.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/fuzzing/call.h"

namespace tessera::faults {
namespace {

namespace fs = std::filesystem;

struct Exchange {
  const char* from;
  const char* to;
};
constexpr Exchange kExchanges[] = {
    {" + ", " - "},    {" - ", " + "},       {" * ", " + "},           {" / ", " * "},
    {" % ", " / "},    {" < ", " <= "},      {" <= ", " < "},          {" > ", " >= "},
    {" >= ", " > "},   {" == ", " != "},     {" != ", " == "},         {" && ", " || "},
    {" || ", " && "},  {" += ", " -= "},     {"std::min", "std::max"}, {"std::max", "std::min"},
    {"true", "false"}, {"false", "true"},    {" ? ", " ? !!"},         {"if (", "if (!("},
    {"++", "--"},      {".first", ".second"}};

/// A possible change of a line: an exchange, or another number.
struct Place {
  std::size_t at, length;
  std::string after;
};

bool is_part_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

std::vector<Place> places(const std::string& line, fuzz::Choices& choices) {
  std::vector<Place> found;
  for (const Exchange& each : kExchanges) {
    const std::string from = each.from;
    for (std::size_t at = line.find(from); at != std::string::npos; at = line.find(from, at + 1))
      found.push_back({at, from.size(), each.to});
  }
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (std::isdigit(static_cast<unsigned char>(line[at])) == 0) continue;
    std::size_t end = at;
    while (end < line.size() && is_part_of_word(line[end])) ++end;
    const std::string number = line.substr(at, end - at);
    const bool whole = number.find_first_not_of("0123456789") == std::string::npos;
    if (whole && number.size() < 9 && (at == 0 || !is_part_of_word(line[at - 1]))) {
      const int value = std::stoi(number);
      found.push_back({at, number.size(),
                       std::to_string(value > 0 && choices.once_in(2) ? value - 1 : value + 1)});
    }
    at = end;
  }
  return found;
}

/// False for declarations, comments, strings and compile-time checks, which stay unchanged.
bool is_code(const std::string& line) {
  const std::size_t begin = line.find_first_not_of(' ');
  if (begin == std::string::npos || line.starts_with("#")) return false;
  for (const char* not_code : {"//", "\"", "template", "static_assert", "check(", "using "})
    if (line.find(not_code) != std::string::npos) return false;
  return true;
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::vector<std::string> lines;
  std::istringstream text(fuzz::read(file));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::vector<fs::path> source_files(const fs::path& source) {
  std::vector<fs::path> files;
  for (const char* folder : {"kernels", "models"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source / folder)) {
      const fs::path& file = entry.path();
      const bool tile = file.filename().string().starts_with("codelets");
      if ((file.extension() == ".cpp" || file.extension() == ".h") && !tile) files.push_back(file);
    }
  }
  std::ranges::sort(files);
  return files;
}

SourceFault source_fault(const std::vector<fs::path>& files, fuzz::Choices& choices) {
  for (;;) {
    const fs::path& file = choices.of(files);
    std::vector<std::string> lines = lines_of(file);
    std::string& line = choices.of(lines);
    if (!is_code(line)) continue;
    const std::vector<Place> all = places(line, choices);
    if (all.empty()) continue;
    const Place& place = choices.of(all);
    SourceFault fault{file, static_cast<std::size_t>(&line - lines.data()) + 1, line, "", ""};
    line.replace(place.at, place.length, place.after);
    if (place.after == "if (!(") line.insert(line.rfind(')'), ")");
    fault.after = line;
    fault.text = fmt::format("{}\n", fmt::join(lines, "\n"));
    return fault;
  }
}

}  // namespace tessera::faults
