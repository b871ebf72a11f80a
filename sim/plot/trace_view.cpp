#include "sim/plot/trace_view.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/base/sizes.h"
#include "sim/plot/script.h"
#include "sim/trace/settings.h"

namespace tessera::plot {
namespace {

/// Parses a cycle from `least` to `most`; `otherwise` if `text` is empty.
std::uint64_t cycle_of(const std::string& text, const char* option, const TraceView& view,
                       std::uint64_t least, std::uint64_t most, std::uint64_t otherwise) {
  if (text.empty()) return otherwise;
  const auto cycle = number_in<std::uint64_t>(text);
  if (cycle && *cycle >= least && *cycle <= most) return *cycle;
  throw UserError("tessera plot: {}: found {}, allowed {} to {}, cycles of {}", option, text, least,
                  most, view.trace->file);
}

std::vector<std::uint32_t> tiles_of_trace(const trace::Recording& trace) {
  return mapped(trace.tiles, [](const auto& tile) { return tile.first; });
}

/// The tiles of `known` that "0-15,20" selects. Throws UserError for an unknown one.
std::vector<std::uint32_t> chosen_tiles(const std::string& text,
                                        const std::vector<std::uint32_t>& known,
                                        const std::string& file) {
  if (text.empty() || text == "all") return known;
  if (known.empty())
    throw UserError(
        "tessera plot: --tiles: found {}, but {} holds no tiles: tessera run --trace-tiles {}",
        text, file, text);
  try {
    std::vector<std::uint32_t> tiles;
    for (const TileId tile : trace::tiles_of(text, known.back() + 1)) {
      if (!std::ranges::binary_search(known, index(tile)))
        throw UserError("tessera plot: --tiles: found {}, allowed {}, the tiles of {}", index(tile),
                        ranges_of(known), file);
      tiles.push_back(index(tile));
    }
    return tiles;
  } catch (const KeyError&) {
    throw UserError(
        "tessera plot: --tiles: found {}, allowed all, or tiles and ranges of them "
        "such as 0-63,100; {} holds {}",
        text, file, ranges_of(known));
  }
}

}  // namespace

TraceView view_of(const trace::Recording& trace, const Request& request) {
  TraceView view{&trace, 0, 0, chosen_tiles(request.tiles, tiles_of_trace(trace), trace.file)};
  const std::uint64_t end = trace.end.count();
  if (end == 0) throw UserError(trace.file + ": found no superstep, expected one");
  view.to = cycle_of(request.to, "--to", view, 1, end, end);
  view.from = cycle_of(request.from, "--from", view, 0, view.to - 1, 0);
  return view;
}

Columns Columns::over(const TraceView& view) {
  return {view.from, view.to, std::min(view.to - view.from, kMostColumns)};
}

std::uint64_t Columns::begin(std::uint64_t column) const {
  const std::uint64_t cycles = to - from;
  return from + cycles / count * column + cycles % count * column / count;
}

std::uint64_t Columns::column_of(std::uint64_t cycle) const {
  const double share = static_cast<double>(cycle - from) / static_cast<double>(to - from);
  auto column = std::min(static_cast<std::uint64_t>(share * static_cast<double>(count)), count - 1);
  while (column > 0 && begin(column) > cycle) --column;
  while (column + 1 < count && begin(column + 1) <= cycle) ++column;
  return column;
}

std::string ranges_of(const std::vector<std::uint32_t>& tiles) {
  std::string text;
  for (std::size_t i = 0; i < tiles.size();) {
    std::size_t last = i;
    while (last + 1 < tiles.size() && tiles[last + 1] == tiles[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", tiles[i]);
    if (last > i) text += fmt::format("-{}", tiles[last]);
    i = last + 1;
  }
  return text;
}

std::string time_label(const TraceView& view, const std::vector<std::string>& notes) {
  std::string text = "time (cycles)";
  if (!view.trace->timescale.empty()) text += "; timescale " + view.trace->timescale;
  for (const std::string& note : notes) text += "; " + note;
  return text;
}

std::string trace_title(const Source& source, const Request& request) {
  if (request.title || !source.rows.rows.empty()) return title_of(source.rows, request);
  return std::filesystem::path(source.trace->file).filename().string();
}

std::string time_axis(const TraceView& view, const Sheet& sheet) {
  // A window within a long trace has marks with more digits.
  const unsigned marks = view.from == 0 ? sheet.marks_across() : sheet.marks_across() / 2;
  return fmt::format("set xrange [{}:{}]\nset xtics ({})\n", view.from, view.to,
                     number_marks(static_cast<double>(view.from), static_cast<double>(view.to),
                                  std::max(marks, 2U)));
}

}  // namespace tessera::plot
