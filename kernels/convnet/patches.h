#pragma once

#include <cstdint>
#include <optional>
#include <vector>

/// Tables of constants that the tile code of convolutions reads: which positions it computes
/// together. An activation is planes of 8 channels of int8, 4 of int16 and bf16:
/// [plane][row][column] of kPositionBytes, with any pitch of rows and planes.
namespace tessera::convnet {

constexpr std::uint32_t kPositionBytes = 8;

/// Outputs of one call. Columns side by side lie side by side in the input too, whatever the
/// stride (ColumnGeometry::place).
struct Grid {
  std::uint32_t rows;
  std::uint32_t columns;          ///< 2 at least
  std::uint32_t input_row_bytes;  ///< from the inputs of an output row to those of the next
  std::uint32_t output_row_bytes;
  // Planes that are computed alike, as if they were one with more rows.
  std::uint32_t planes = 1;
  std::uint32_t input_plane_bytes = 0;
  std::uint32_t output_plane_bytes = 0;
  bool operator==(const Grid&) const = default;
};
/// Returns the grid's positions in fewer rows: rows without gaps between them in input and output
/// become one, and so do planes.
Grid flattened(Grid grid);

/// Tile code for patches of one kind and several output blocks at a time.
struct WideCode {
  const char* codelet;
  std::uint32_t blocks;
};

/// Tile code for a call behind another one over the same run of patches.
struct AgainCode {
  const char* codelet;
  std::uint32_t input_bytes;  ///< from the first patch's inputs to the last one's
  std::uint32_t output_bytes;
};

/// Patches of a grid as words of a table in SRAM.
struct PatchTable {
  std::vector<std::uint32_t> words;
  std::uint32_t first = 0;  ///< kind of the first patch, an argument of the call
  std::uint32_t patches = 0;
  bool has_runs = false;     ///< some words stand for several patches
  std::uint32_t groups = 0;  ///< groups of 4 positions in all patches; some may be computed twice
  std::optional<WideCode> wide;  ///< where all patches are of one kind that has such code
  /// Tile code that takes four steps a turn, where all patches are of one kind that has some.
  const char* turns = nullptr;
  std::optional<AgainCode> again;  ///< where all patches are one run

  /// It leaves room for other planes in a patch.
  [[nodiscard]] bool is_small() const {
    constexpr std::uint32_t kHalfAPatch = 4;
    return groups <= kHalfAPatch;
  }
  /// Bytes of the raw sums of a call of `convolve` with so many output blocks.
  [[nodiscard]] std::uint64_t partial_bytes(std::uint32_t blocks) const {
    constexpr std::uint64_t kGroupBytes = 128;
    return kGroupBytes * groups * blocks;
  }
};

/// The table for `convolve`, of the flattened grid. Rows whose length is no multiple of 4 end in
/// halves of groups, two of which make one, or in a group that overlaps the one before, whichever
/// takes fewer slots.
/// `planes`: computed at a time, so that patches have so many times fewer groups.
/// `runs`: patches of more than 4 groups that are the one before, moved, are a run with it;
/// `last_plane_bytes`: from the first output plane of these to the last.
PatchTable patch_table(const Grid& grid, std::uint32_t planes = 1, bool runs = false,
                       std::uint32_t last_plane_bytes = 0);
/// The table for `pool_max`: patches of 4 groups of halves.
PatchTable pool_patch_table(const Grid& grid);

}  // namespace tessera::convnet
