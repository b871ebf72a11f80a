#include "kernels/convnet/patches.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "sim/base/errors.h"

namespace tessera::convnet {
namespace {

constexpr std::uint32_t kHalf = 2;
constexpr std::uint32_t kGroup = 4;
constexpr std::uint32_t kMostGroups = 8;
constexpr std::uint32_t kBytesOfJump = 4;
constexpr std::uint32_t kEnd = 0xffff'ffff;
constexpr std::uint32_t kMostOfOnePatch = 4;  ///< most groups of kinds that make no runs

/// Groups of a patch: `full` ones of 4 adjacent positions, then `halves` of 2 and 2.
struct PatchKind {
  std::uint32_t full;
  std::uint32_t halves;
  bool operator==(const PatchKind&) const = default;
};
/// A kind of patches, with its special tile code in addition to `convolve`.
struct KnownKind {
  PatchKind kind;
  std::optional<WideCode> wide = {};  ///< used because weights of one output block arrive too late
  const char* turns = nullptr;        ///< used because two steps per iteration are too few
  const char* again = nullptr;        ///< for kinds that make runs
};
/// All kinds, in the order of the jumps of `convolve`.
constexpr std::array kKinds = {
    KnownKind{{6, 1}, {}, nullptr, "convolve_again_6_1"},
    KnownKind{{8, 0}, {}, nullptr, "convolve_again_8_0"},
    KnownKind{{6, 0}, {}, nullptr, "convolve_again_6_0"},
    KnownKind{{4, 1}, {}, "convolve_turns_4_1", "convolve_again_4_1"},
    KnownKind{{4, 0}, WideCode{"convolve_4_0", 2}, "convolve_turns_4_0"},
    KnownKind{{2, 1}, WideCode{"convolve_2_1", 2}, "convolve_turns_2_1"},
    KnownKind{{2, 0}, WideCode{"convolve_2_0", 4}, "convolve_turns_2_0"},
    KnownKind{{0, 1}, WideCode{"convolve_0_1", 8}, "convolve_turns_0_1"},
    KnownKind{{0, 4}, WideCode{"convolve_0_4", 2}, "convolve_turns_0_4"}};

struct Position {
  std::uint32_t row;  ///< row in all planes
  std::uint32_t column;
};

/// Groups that cover a grid: first positions of full groups; of half groups, two per group.
struct Groups {
  std::vector<Position> full;
  std::vector<Position> halves;
};

/// Sizes of patches for `groups` groups, as even as possible: at most `most`, one less for the
/// `with_halves` patches with a group of halves.
std::vector<std::uint32_t> patch_sizes(std::uint32_t groups, std::uint32_t with_halves,
                                       std::uint32_t most) {
  std::uint32_t count = std::max(with_halves, 1U);
  while (most * count - with_halves < groups) ++count;
  std::vector<std::uint32_t> sizes(count);
  for (std::uint32_t left = groups, i = 0; left > 0; i = (i + 1) % count) {
    if (sizes[i] == most - (i < with_halves ? 1 : 0)) continue;
    ++sizes[i];
    --left;
  }
  return sizes;
}

/// Issue slots of a step of `planes` planes: the larger of its multiplications and its loads
/// (inputs, weights, distance).
std::uint32_t slots_of(const PatchKind& kind, std::uint32_t planes) {
  return std::max(planes * (kind.full + kind.halves),
                  planes * (kind.full / 2 + kind.halves) + planes + 1);
}

class TableWriter {
 public:
  TableWriter(const Grid& grid, std::uint32_t planes, bool runs, std::uint32_t last_plane_bytes)
      : grid_(grid), planes_(planes), runs_(runs), last_plane_bytes_(last_plane_bytes) {}

  /// Adds one patch, with its positions in the order of its kind.
  void patch(const PatchKind& kind, const std::vector<Position>& places) {
    const auto* const known = std::ranges::find(kKinds, kind, &KnownKind::kind);
    check(known != kKinds.end(), "convnet: no patch of {} and {} groups", kind.full, kind.halves);
    const auto number = static_cast<std::uint32_t>(known - kKinds.begin()) * kBytesOfJump;
    const Places at = places_of(places);
    ++table_.patches;
    table_.groups += kind.full + kind.halves;
    slots_ += slots_of(kind, planes_);
    if (table_.patches > 1 && number == number_ && goes_on(at)) {
      table_.has_runs = true;
      return;
    }
    if (table_.patches == 1) {
      table_.first = number;
      table_.wide = known->wide;
      table_.turns = known->turns;
    } else {
      end_run();
      table_.words.push_back(number);
      if (number != table_.first) {
        table_.wide.reset();
        table_.turns = nullptr;
      }
    }
    table_.words.insert(table_.words.end(), at.begin(), at.end());
    number_ = number;
    again_ = known->again;
    run_ = Run{at, kind.full + kind.halves > kMostOfOnePatch};
  }
  PatchTable finish() {
    end_run();
    if (again_ != nullptr && run_.patches == table_.patches)
      table_.again = {again_, (run_.patches - 1) * run_.input_bytes,
                      (run_.patches - 1) * run_.output_bytes};
    table_.words.push_back(kEnd);
    return table_;
  }
  [[nodiscard]] std::uint32_t slots() const { return slots_; }
  /// Most groups of a patch.
  [[nodiscard]] std::uint32_t most_groups() const { return kMostGroups / planes_; }

 private:
  /// Bytes from the call's first input to each input, then from its first output to each output.
  using Places = std::vector<std::uint32_t>;
  struct Run {
    Places last;
    bool exists = false;  ///< the kind makes runs
    std::uint32_t patches = 1;
    std::uint32_t input_bytes = 0, output_bytes = 0;  ///< from patch to patch
  };

  [[nodiscard]] Places places_of(const std::vector<Position>& positions) const {
    Places places(2 * positions.size());
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const std::uint32_t plane = positions[i].row / grid_.rows;
      const std::uint32_t row = positions[i].row % grid_.rows;
      const std::uint32_t column = positions[i].column * kPositionBytes;
      places[i] = plane * grid_.input_plane_bytes + row * grid_.input_row_bytes + column;
      places[positions.size() + i] =
          plane * grid_.output_plane_bytes + row * grid_.output_row_bytes + column;
    }
    return places;
  }
  /// Adds a patch to the run if it is the last one shifted by the run's distance.
  bool goes_on(const Places& at) {
    if (!runs_ || !run_.exists) return false;
    const std::size_t positions = at.size() / 2;
    const std::uint32_t input_bytes = at[0] - run_.last[0];
    const std::uint32_t output_bytes = at[positions] - run_.last[positions];
    if (run_.patches > 1 && (input_bytes != run_.input_bytes || output_bytes != run_.output_bytes))
      return false;
    for (std::size_t i = 0; i < at.size(); ++i)
      if (at[i] - run_.last[i] != (i < positions ? input_bytes : output_bytes)) return false;
    run_ = {at, true, run_.patches + 1, input_bytes, output_bytes};
    return true;
  }
  void end_run() {
    if (!run_.exists) return;
    table_.words.insert(table_.words.end(),
                        {run_.patches, run_.input_bytes, run_.output_bytes - last_plane_bytes_});
  }

  Grid grid_;
  std::uint32_t planes_;
  bool runs_;
  std::uint32_t last_plane_bytes_;
  Run run_;
  const char* again_ = nullptr;  ///< code of the last patch's kind
  std::uint32_t number_ = 0;     ///< number of the last patch's kind
  PatchTable table_;
  std::uint32_t slots_ = 0;
};

/// Positions that are not in a patch yet.
using Positions = std::span<const Position>;

/// Removes the first `count` positions of `from`; repeats the last one if there are fewer.
std::vector<Position> take(Positions& from, std::uint32_t count) {
  const Positions first = from.first(std::min<std::size_t>(count, from.size()));
  from = from.subspan(first.size());
  std::vector<Position> taken(first.begin(), first.end());
  while (taken.size() < count) taken.push_back(taken.back());
  return taken;
}

/// Writes patches of four groups of halves, or of one (`ones`) if that is enough.
void write_halves(TableWriter& writer, Positions halves, bool ones = true) {
  while (!halves.empty()) {
    const PatchKind kind{0, ones && halves.size() <= kHalf ? 1U : 4U};
    writer.patch(kind, take(halves, 2 * kind.halves));
  }
}

/// Writes a patch of up to `size` full groups; the last of an odd number as two halves.
void write_full(TableWriter& writer, Positions& full, std::uint32_t size) {
  size = std::min(size, static_cast<std::uint32_t>(full.size()));
  std::vector<Position> places = take(full, size);
  if (size % 2 == 1) places.push_back({places.back().row, places.back().column + kHalf});
  writer.patch({size - size % 2, size % 2}, places);
}

/// Writes a patch of an even number of full groups, the last possibly repeated, and one group of
/// halves.
void write_both(TableWriter& writer, Positions& full, Positions& halves, std::uint32_t size) {
  const std::uint32_t wanted = std::min(size - 1, static_cast<std::uint32_t>(full.size()));
  const std::uint32_t taken = std::max(2U, wanted + wanted % 2);
  std::vector<Position> places = take(full, taken);
  const std::vector<Position> beside = take(halves, 2);
  places.insert(places.end(), beside.begin(), beside.end());
  writer.patch({taken, 1}, places);
}

void write_groups(TableWriter& writer, const Groups& groups) {
  Positions full = groups.full, halves = groups.halves;
  if (full.empty()) return write_halves(writer, halves);
  const auto paired = static_cast<std::uint32_t>(halves.size() + 1) / 2;
  const auto all = static_cast<std::uint32_t>(full.size()) + paired;
  for (const std::uint32_t size : patch_sizes(all, paired, writer.most_groups())) {
    if (full.empty()) return write_halves(writer, halves);
    if (halves.empty())
      write_full(writer, full, size);
    else
      write_both(writer, full, halves, size);
  }
}

/// `overlapping`: the last positions of a row form a full group that overlaps the one before.
Groups cover(const Grid& grid, bool overlapping) {
  Groups groups;
  for (std::uint32_t row = 0; row < grid.planes * grid.rows; ++row) {
    std::uint32_t column = 0;
    for (; column + kGroup <= grid.columns; column += kGroup) groups.full.push_back({row, column});
    const std::uint32_t left = grid.columns - column;
    if (left == 0) continue;
    if (overlapping) {
      groups.full.push_back({row, grid.columns - kGroup});
      continue;
    }
    if (left == kGroup - 1) groups.halves.push_back({row, column});
    groups.halves.push_back({row, grid.columns - kHalf});
  }
  return groups;
}

void check_columns(const Grid& grid) {
  check(grid.columns >= kHalf && grid.rows > 0, "convnet: a grid of {} rows of {} columns",
        grid.rows, grid.columns);
}

}  // namespace

Grid flattened(Grid grid) {
  const auto follow = [&](std::uint32_t input_bytes, std::uint32_t output_bytes) {
    const std::uint32_t row = grid.columns * kPositionBytes;
    return input_bytes == row && output_bytes == row;
  };
  if (follow(grid.input_row_bytes, grid.output_row_bytes))
    grid.columns *= std::exchange(grid.rows, 1U);
  if (grid.rows == 1 && follow(grid.input_plane_bytes, grid.output_plane_bytes))
    grid.columns *= std::exchange(grid.planes, 1U);
  return grid;
}

PatchTable patch_table(const Grid& given, std::uint32_t planes, bool runs,
                       std::uint32_t last_plane_bytes) {
  const Grid grid = flattened(given);
  check_columns(grid);
  TableWriter in_halves(grid, planes, runs, last_plane_bytes);
  write_groups(in_halves, cover(grid, false));
  if (grid.columns < kGroup) return in_halves.finish();
  TableWriter overlapping(grid, planes, runs, last_plane_bytes);
  write_groups(overlapping, cover(grid, true));
  return overlapping.slots() < in_halves.slots() ? overlapping.finish() : in_halves.finish();
}

PatchTable pool_patch_table(const Grid& given) {
  const Grid grid = flattened(given);
  check_columns(grid);
  std::vector<Position> halves;
  for (std::uint32_t row = 0; row < grid.rows; ++row) {
    for (std::uint32_t column = 0; column < grid.columns; column += kHalf)
      halves.push_back({row, std::min(column, grid.columns - kHalf)});
  }
  TableWriter writer(grid, 1, false, 0);
  write_halves(writer, halves, false);
  return writer.finish();
}

}  // namespace tessera::convnet
