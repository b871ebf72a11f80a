#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/plot/figure.h"
#include "sim/trace/recording.h"

/// Shared parts of figures of traces: a window of cycles and chosen tiles.
namespace tessera::plot {

struct TraceView {
  const trace::Recording* trace = nullptr;
  std::uint64_t from = 0, to = 0;
  std::vector<std::uint32_t> tiles;  ///< ascending

  [[nodiscard]] const trace::Recording::Tile& tile(std::uint32_t number) const {
    return trace->tiles.at(number);
  }
  /// True if the slice overlaps the window; an empty slice, if it lies within.
  template <class Slice>
  [[nodiscard]] bool shows(const Slice& slice) const {
    const std::uint64_t begin = slice.begin.count(), end = slice.end.count();
    return begin < to && (end > from || (begin == end && begin == from));
  }
};

/// Maximum number of columns of a window; activity within a column is summed.
inline constexpr std::uint64_t kMostColumns = 400;

/// Columns of equal width, except for rounding, over a window.
struct Columns {
  std::uint64_t from, to, count;

  static Columns over(const TraceView& view);
  [[nodiscard]] std::uint64_t begin(std::uint64_t column) const;
  /// Calls use(column, cycles) for each column that overlaps the interval.
  template <class Use>
  void spread(std::uint64_t begin_cycle, std::uint64_t end_cycle, const Use& use) const {
    const std::uint64_t first = std::max(begin_cycle, from), last = std::min(end_cycle, to);
    if (first >= last) return;
    for (std::uint64_t column = column_of(first); column < count; ++column) {
      const std::uint64_t low = std::max(first, begin(column));
      const std::uint64_t high = std::min(last, begin(column + 1));
      if (low >= last) return;
      if (low < high) use(column, high - low);
    }
  }
  /// The column of a cycle in the window.
  [[nodiscard]] std::uint64_t column_of(std::uint64_t cycle) const;
};

/// Parses the request's --from, --to and --tiles; by default the whole trace. Throws UserError.
TraceView view_of(const trace::Recording& trace, const Request& request);

/// "0-15,20"
std::string ranges_of(const std::vector<std::uint32_t>& tiles);

/// "time (cycles)", a VCD's timescale, and `notes`.
std::string time_label(const TraceView& view, const std::vector<std::string>& notes);

/// The run's title, or the file's name if there is no report in its folder.
std::string trace_title(const Source& source, const Request& request);

/// "set xrange ..." with marks.
std::string time_axis(const TraceView& view, const Sheet& sheet);

}  // namespace tessera::plot
