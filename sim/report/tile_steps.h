#pragma once

#include <string>

#include "sim/report/run_folder.h"
#include "sim/report/run_result.h"

/// Cycles of each tile in each superstep: tile_steps.npy, and its data for the page.
namespace tessera::report {

/// The bytes of tile_steps.npy: u32 [rows, tiles, 3] cycles computing, in exchanges, waiting for
/// their other ends. A row is 2^n supersteps, with the least n that keeps to the limit of rows.
/// Empty if nothing was recorded.
std::string tile_steps_npy(const TileSteps& steps);

/// Reads it back; `supersteps` is the run's number. Throws UserError if they do not match.
TileSteps read_tile_steps(const std::string& file, std::uint64_t tiles, std::uint64_t supersteps);

/// {supersteps_a_row, rows, planes: [compute, exchange, wait]}: bytes [row][tile], each the share
/// of the row's cycles in 1/255. Adds up neighbouring rows until the text has at most `most_bytes`.
nlohmann::ordered_json pack_tile_steps(const RunFolder& run, std::size_t most_bytes);

}  // namespace tessera::report
