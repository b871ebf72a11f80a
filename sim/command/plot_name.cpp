#include <cctype>
#include <filesystem>

#include <fmt/format.h>

#include "sim/command/plot.h"
#include "sim/sweep/sha256.h"

namespace tessera::command {
namespace {

/// Letters, digits, dots and underscores; anything else between them becomes one dash.
std::string in_words(const std::string& text) {
  std::string made;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
    if (plain) made += c;
    if (!plain && !made.empty() && made.back() != '-') made += '-';
  }
  if (made.ends_with('-')) made.pop_back();
  return made;
}

/// The request as words for a file name, and exactly.
struct RequestName {
  std::string words, exact;

  void add(const char* option, const std::string& value, bool as_words) {
    exact += fmt::format("{}={}\n", option, value);
    const std::string word = in_words(value);
    if (as_words) words += "-" + word;
    said_ = said_ && as_words && word == value;
  }
  void add(const char* option, const std::vector<std::string>& values, bool as_words) {
    for (const std::string& value : values) add(option, value, as_words);
  }
  /// True if the words are unambiguous, apart from the options they belong to.
  [[nodiscard]] bool said() const { return said_; }

 private:
  bool said_ = true;
};

}  // namespace

std::string plot_name(const PlotRequest& request, std::string_view kind) {
  const plot::Request& figure = request.figure;
  RequestName asked;
  asked.add("--y", figure.y, true);
  if (!figure.x.empty()) asked.add("--x", "over_" + figure.x, true);
  for (const std::string& path : figure.by) asked.add("--by", "by_" + path, true);
  if (!figure.sample.empty()) asked.add("--sample", "sample_" + figure.sample, true);
  if (!figure.tiles.empty()) asked.add("--tiles", "tiles_" + figure.tiles, true);
  if (!figure.from.empty()) asked.add("--from", "from_" + figure.from, true);
  if (!figure.to.empty()) asked.add("--to", "to_" + figure.to, true);
  asked.add("--where", request.where, false);
  asked.add("--baseline", figure.baseline, false);
  asked.add("--best", figure.best, false);
  const auto text = [&](const char* option, const std::optional<std::string>& given) {
    if (given) asked.add(option, *given, false);
  };
  text("--title", figure.title);
  text("--xlabel", figure.xlabel);
  text("--ylabel", figure.ylabel);
  const auto other = [&](const char* option, const std::string& given, const std::string& usual) {
    if (given != usual) asked.add(option, given, false);
  };
  other("--width", request.width, "");
  other("--height", request.height, "");
  other("--size", request.size, "");
  other("--font", figure.sheet.font, plot::Sheet{}.font);
  other("--log", figure.log, "");
  // Names the folder, unless the figure is stored in the folder it shows.
  const bool many = request.folders.size() > 1;
  if (!many && trace::is_trace(request.folders.front()))
    asked.add("DIR", std::filesystem::path(request.folders.front()).filename().string(), true);
  if (many || !request.out.empty()) asked.add("DIR", request.folders, !many);
  constexpr std::size_t kMostLetters = 120, kDigits = 8;
  std::string name = std::string(kind) + asked.words;
  if (asked.said() && name.size() <= kMostLetters) return name;
  sweep::Sha256 digest;
  digest.add(asked.exact);
  return fmt::format("{}-{}", name.substr(0, kMostLetters), digest.finish().substr(0, kDigits));
}

}  // namespace tessera::command
