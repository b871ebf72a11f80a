#include "sim/plot/gnuplot.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/base/host_limit.h"
#include "sim/base/leftovers.h"
#include "sim/base/whole_file.h"
#include "sim/plot/script.h"
#include "sim/sweep/slurm.h"

namespace tessera::plot {
namespace {

namespace fs = std::filesystem;

/// An in-memory file for gnuplot's output: nothing remains if a process is killed.
class UnnamedFile {
 public:
  UnnamedFile() : file_(::memfd_create("figure", 0)) {
    if (file_ < 0)
      throw_host_error(errno, fmt::format("tessera plot: no file: {}", std::strerror(errno)));
  }
  UnnamedFile(const UnnamedFile&) = delete;
  UnnamedFile& operator=(const UnnamedFile&) = delete;
  ~UnnamedFile() { ::close(file_); }

  /// A path by which child processes can open it.
  [[nodiscard]] std::string path() const { return fmt::format("/dev/fd/{}", file_); }
  [[nodiscard]] std::string text() const {
    std::string text;
    std::array<char, 65536> buffer;
    ssize_t got = 0;
    while ((got = ::pread(file_, buffer.data(), buffer.size(), static_cast<off_t>(text.size()))) >
           0)
      text.append(buffer.data(), static_cast<std::size_t>(got));
    return text;
  }

 private:
  int file_;
};

/// A terminal per format, all with the same look. Measured with gnuplot 5.4: font sizes are points
/// at 72 dots an inch; svg counts 96 dots an inch, as does png; pdf counts half of 96.
std::string terminals(const Sheet& sheet) {
  constexpr double kSvgDots = 96, kPngDots = 300, kFontDots = 96, kPdfFont = 0.75;
  const double weight = std::clamp(sheet.size / 9, 0.6, 2.0);  // of lines and marks, as of letters
  const double png = kPngDots / kFontDots;
  const auto in_dots = [&](double dots) {
    return fmt::format("{},{}", std::lround(sheet.width * dots), std::lround(sheet.height * dots));
  };
  return fmt::format(
      "if (format eq 'svg') set terminal svg size {} font {}.sprintf(',%g',{}*unit) linewidth "
      "{:.3g} "
      "background 'white' noenhanced\n"
      "if (format eq 'pdf') set terminal pdfcairo size {:.4g}in,{:.4g}in font {} fontscale {} "
      "linewidth {:.3g} pointscale {:.3g} noenhanced\n"
      "if (format eq 'png') set terminal pngcairo size {} font {} fontscale {} linewidth {:.3g} "
      "pointscale {:.3g} noenhanced\n",
      in_dots(kSvgDots), literal(sheet.font), sheet.size, weight, sheet.width, sheet.height,
      literal(fmt::format("{},{}", sheet.font, sheet.size)), kPdfFont, 1.5 * weight, weight,
      in_dots(kPngDots), literal(fmt::format("{},{}", sheet.font, sheet.size)), png, png * weight,
      png * weight);
}

}  // namespace

void require_gnuplot() {
  if (sweep::shell("tessera plot", "command -v gnuplot").status == 0) return;
  throw UserError(
      "tessera plot: gnuplot is not installed here; "
      "on Debian: sudo apt-get install -y gnuplot-nox");
}

std::string script_of(const Figure& figure, const std::string& name) {
  const bool narrow = figure.sheet.is_narrow();
  return fmt::format(
             "# gnuplot NAME.gp draws NAME.svg; gnuplot -e \"format='png'\" NAME.gp draws "
             "NAME.png.\n"
             "if (!exists('format')) format = 'svg'\n"
             "if (!exists('output')) output = {0}.'.'.format\n"
             "data = {0}.'.csv'\n"
             "unit = format eq 'svg' ? 4/3. : 1  # of a font's size, in points\n",
             literal(name)) +
         terminals(figure.sheet) +
         fmt::format(
             "set output output\n"
             "set encoding utf8\n"
             "set datafile separator ','\n"
             "set datafile columnheaders\n"
             "set datafile missing NaN\n"
             "set border 3 lc rgb '#888888'\n"
             "set tics nomirror tc rgb '#222222'\n"
             "set grid y lc rgb '#dddddd' lt 1 lw 0.7\n"
             "set key {} Left reverse samplen {}\n",
             narrow ? "tmargin center horizontal" : "outside right top", narrow ? 1.5 : 2) +
         figure.script + "set output\n";
}

void draw(const Figure& figure, const std::string& folder, const std::string& name,
          std::span<const std::string> formats) {
  create_folder(folder);
  remove_leftovers(folder);
  const fs::path base = fs::path(folder) / name;
  write_whole(base.string() + ".csv", figure.csv);
  write_whole(base.string() + ".gp", script_of(figure, name));
  for (const std::string& format : formats) {
    const UnnamedFile drawn;
    const std::string settings =
        fmt::format("format={}; output={}", literal(format), literal(drawn.path()));
    const sweep::ShellAnswer said = sweep::shell(
        "tessera plot", fmt::format("cd {} && gnuplot -e {} {}", sweep::shell_word(folder),
                                    sweep::shell_word(settings), sweep::shell_word(name + ".gp")));
    if (said.status != 0) throw UserError("{}.gp: gnuplot: {}", base.string(), said.text);
    write_whole(base.string() + "." + format, drawn.text());
  }
}

}  // namespace tessera::plot
