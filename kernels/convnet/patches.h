#pragma once

#include <cstdint>
#include <optional>
#include <vector>

/// Tables for the tile code of convolutions, which define the positions computed together. An
/// activation consists of planes of 8 channels in int8, 4 in int16 and bf16: [plane][row][column]
/// of kPositionBytes, with any pitch of rows and planes.
namespace tessera::convnet {

constexpr std::uint32_t kPositionBytes = 8;

/// Outputs of one call. Adjacent columns are adjacent in the input too, for any stride
/// (ColumnGeometry::place).
struct Grid {
  std::uint32_t rows;
  std::uint32_t columns;          ///< at least 2
  std::uint32_t input_row_bytes;  ///< byte pitch of the inputs of output rows
  std::uint32_t output_row_bytes;
  // Planes computed in the same way, as if they were one plane with more rows.
  std::uint32_t planes = 1;
  std::uint32_t input_plane_bytes = 0;
  std::uint32_t output_plane_bytes = 0;
  bool operator==(const Grid&) const = default;
};
/// Merges rows without gaps between them in input and output into one, and planes likewise.
Grid flattened(Grid grid);

/// Tile code for patches of one kind that computes several output blocks at a time.
struct WideCode {
  const char* codelet;
  std::uint32_t blocks;
};

/// Tile code for a call that follows another over the same run of patches.
struct AgainCode {
  const char* codelet;
  std::uint32_t input_bytes;  ///< byte distance from the first patch's inputs to the last one's
  std::uint32_t output_bytes;
};

/// Patches of a grid as words of a table in SRAM.
struct PatchTable {
  std::vector<std::uint32_t> words;
  std::uint32_t first = 0;  ///< kind of the first patch, an argument of the call
  std::uint32_t patches = 0;
  bool has_runs = false;     ///< some words represent several patches
  std::uint32_t groups = 0;  ///< groups of 4 positions in all patches; some may be computed twice
  std::optional<WideCode> wide;  ///< if all patches are of one kind that has wide code
  /// Tile code with four steps per iteration, if all patches are of one kind that has it.
  const char* turns = nullptr;
  std::optional<AgainCode> again;  ///< if all patches are one run

  /// True if a patch has room for other planes.
  [[nodiscard]] bool is_small() const {
    constexpr std::uint32_t kHalfAPatch = 4;
    return groups <= kHalfAPatch;
  }
  /// Bytes of the raw sums of a call of `convolve` with `blocks` output blocks.
  [[nodiscard]] std::uint64_t partial_bytes(std::uint32_t blocks) const {
    constexpr std::uint64_t kGroupBytes = 128;
    return kGroupBytes * groups * blocks;
  }
};

/// The table for `convolve`, of the flattened grid. Rows whose length is no multiple of 4 end in
/// half groups, two of which form a group, or in a group that overlaps the one before, whichever
/// takes fewer slots.
/// `planes`: planes computed at a time; patches have that many times fewer groups.
/// `runs`: merges patches of more than 4 groups that are the previous one, shifted, into a run;
/// `last_plane_bytes`: from the first output plane of a patch to the last.
PatchTable patch_table(const Grid& grid, std::uint32_t planes = 1, bool runs = false,
                       std::uint32_t last_plane_bytes = 0);
/// The table for `pool_max`, with patches of 4 groups of halves.
PatchTable pool_patch_table(const Grid& grid);

}  // namespace tessera::convnet
