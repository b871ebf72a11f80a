#include "sim/plot/script.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/plot/rows.h"

namespace tessera::plot {
namespace {

constexpr std::array kColours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                 "#E69F00", "#56B4E9", "#222222"};

constexpr std::size_t kMostSeries = 24;

/// The varying axis with most values (of numbers if `numeric`); the later one of equals.
std::string chosen_x(const Rows& rows, const std::vector<std::string>& axes, bool numeric) {
  std::string best;
  std::size_t most = 0;
  for (const std::string& path : axes) {
    const std::size_t values = distinct(rows, path);
    if ((numeric && !is_numeric(rows, path)) || values < most) continue;
    most = values;
    best = path;
  }
  if (!best.empty()) return best;
  throw UserError("{}: no axis {}varies, so --x is needed{}", rows.origin,
                  numeric ? "of numbers " : "", numeric ? ", or --kind bars" : "");
}

/// The value that all rows share at a path; else empty.
std::string shared(const Rows& rows, const std::string& path) {
  const std::string first = text(rows.rows.front(), path);
  const bool same =
      std::ranges::all_of(rows.rows, [&](const Row& row) { return text(row, path) == first; });
  return same ? first : "";
}

}  // namespace

std::string literal(const std::string& text) {
  // gnuplot 5.4 cannot read ''' at the beginning, and interprets \ and ` in double quotes.
  const bool quoted = text.starts_with('\'');
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      out += ' ';
    } else if (quoted && (c == '"' || c == '\\' || c == '`')) {
      out += fmt::format("\\{:03o}", c);
    } else {
      out += !quoted && c == '\'' ? std::string("''") : std::string(1, c);
    }
  }
  return quoted ? '"' + out + '"' : "'" + out + "'";
}

std::string thinned_marks(const std::vector<std::string>& texts, double room, double each) {
  std::vector<std::string> parts;
  const double fit = std::max(1.0, std::floor(room / each));
  const auto step = static_cast<std::size_t>(std::ceil(static_cast<double>(texts.size()) / fit));
  for (std::size_t i = 0; i < texts.size(); i += step) {
    parts.push_back(fmt::format("{} {}", literal(texts[i]), i));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string font_of(double points) { return fmt::format("sprintf(',%g',{:.3g}*unit)", points); }

std::string colour(std::size_t series) { return kColours[series % kColours.size()]; }

std::string mark_style(std::size_t series) {
  constexpr std::array kPoints = {7, 5, 9, 13, 11, 15, 4};
  return fmt::format("lc rgb '{}' pt {}", colour(series), kPoints[series % kPoints.size()]);
}

std::string fill_style(std::size_t series) {
  return fmt::format("lc rgb '{}' fs {} noborder", colour(series),
                     series < kColours.size() ? "solid 0.95" : "pattern 1");
}

std::string line_style(std::size_t series) {
  return fmt::format("{} dt {} lw 2 ps 0.8", mark_style(series), series / kColours.size() + 1);
}

Sheet sheet_of(const Request& request, double tall) {
  Sheet sheet = request.sheet;
  constexpr double kLeastTall = 0.68;  // a narrow sheet's text needs more height
  if (sheet.height == 0)
    sheet.height = sheet.width * (sheet.is_narrow() ? std::max(tall, kLeastTall) : tall);
  return sheet;
}

double heading_width(const Sheet& sheet, std::string_view what) {
  if (what == "ylabel") return 0.8 * sheet.height;
  // Titles are centred over the axes, which on narrow sheets are not centred.
  return (what == "title" && !sheet.is_narrow() ? 0.92 : 0.8) * sheet.width;
}

std::string heading(const Headings& texts, const Request& request, const Sheet& sheet) {
  const auto set = [&](const char* what, const std::string& text) {
    return fmt::format("set {} {}\n", what, wrapped(text, sheet, heading_width(sheet, what)));
  };
  return set("title", request.title.value_or(texts.title)) +
         set("xlabel", request.xlabel.value_or(texts.x)) +
         set("ylabel", request.ylabel.value_or(texts.y)) +
         fmt::format("set key title {} left\n", literal(texts.key));
}

bool wants_log(const Request& request, char axis, bool by_default) {
  if (request.log.empty()) return by_default;
  return request.log != kNoLog && request.log.find(axis) != std::string::npos;
}

std::string curves(const Pivot& pivot, const Axis& x, const Axis& y, double scale) {
  if (pivot.series.size() > kMostSeries) {
    throw UserError("found {} lines, allowed {}: choose with --where or --by", pivot.series.size(),
                    kMostSeries);
  }
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < pivot.series.size(); ++i) {
    parts.push_back(fmt::format("  data using {}:{} with linespoints {} title {}", x.drawn(1, 1),
                                y.drawn(i + 2, scale), line_style(i), literal(pivot.series[i])));
  }
  return fmt::format("plot \\\n{}\n", fmt::join(parts, ", \\\n"));
}

Request completed(const Rows& rows, const Request& request, bool numeric) {
  Request full = request;
  if (full.y.empty()) full.y = {"time.cycles"};
  require_paths(rows, full.y, "--y", true);
  require_paths(rows, full.by, "--by", false);
  const std::vector<std::string> axes = varying(rows);
  if (full.x.empty()) full.x = chosen_x(rows, axes, numeric);
  require_path(rows, full.x, "--x", numeric);
  if (!full.by.empty()) return full;
  for (const std::string& path : axes) {
    if (path != full.x && !follows(rows, path, full.x)) full.by.push_back(path);
  }
  return full;
}

std::string x_title(const Rows& rows, const Request& request) {
  std::vector<std::string> with;
  for (const std::string& path : varying(rows)) {
    const bool goes = path != request.x && !contains(request.by, path) &&
                      follows(rows, path, request.x) && follows(rows, request.x, path);
    if (goes) with.push_back(quantity_of(path, 0).label);
  }
  constexpr std::size_t kMost = 2;
  std::string title = quantity_of(request.x, 0).title();
  if (with.empty() || with.size() > kMost) return title;
  return fmt::format("{}, with {}", title, fmt::join(with, " and "));
}

Quantity shared_quantity(const std::vector<std::string>& y, double largest) {
  Quantity shared = quantity_of(y.front(), largest);
  for (const std::string& path : y) {
    const Quantity each = quantity_of(path, largest);
    if (each.unit != shared.unit)
      throw UserError(
          "tessera plot: --y: found {} and {}, allowed quantities of one unit on one axis",
          shared.title(), each.title());
  }
  if (y.size() > 1) shared.label.clear();
  return shared;
}

std::vector<Sample> samples_of(const Rows& rows, const std::vector<std::string>& y) {
  shared_quantity(y, 0);  // checks for a common unit
  std::vector<Sample> samples;
  for (const Row& row : rows.rows) {
    for (const std::string& path : y) {
      const std::string name = y.size() > 1 ? quantity_of(path, 0).label : "";
      if (const auto value = number(row, path)) samples.push_back({&row, name, *value});
    }
  }
  return samples;
}

std::string best_note(const Request& request) {
  if (request.best.empty()) return "";
  const auto label = [](const std::string& path) { return quantity_of(path, 0).label; };
  return fmt::format(", best {} of each", fmt::join(mapped(request.best, label), " and "));
}

std::string title_of(const Rows& rows, const Request& request) {
  if (request.title) return *request.title;
  const std::string problem = shared(rows, "identity.problem");
  const std::string kernel = problem.empty() ? shared(rows, "workload.kernel") : problem;
  const std::string machine = shared(rows, "machine.name");
  const std::string tiles = shared(rows, "machine.tiles");
  // Tables of validation have no kernel.
  const bool named = std::ranges::any_of(
      rows.rows, [](const Row& row) { return find(row, "workload.kernel") != nullptr; });
  std::string title = !kernel.empty() ? kernel
                      : named         ? "Several kernels"
                                      : std::filesystem::path(rows.origin).stem().string();
  if (!machine.empty()) title += " on " + machine;
  if (!tiles.empty()) title += ", " + counted(std::strtoull(tiles.c_str(), nullptr, 10), "tile");
  return title;
}

}  // namespace tessera::plot
