#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "sim/report/run_result.h"
#include "sim/report/table.h"

namespace tessera::report {

/// The files of one finished run, read back.
struct RunFolder {  // NOLINT(bugprone-exception-escape): the moves of Json
  std::string folder;
  nlohmann::ordered_json report;
  Table steps;
  Table tiles;
  Table traffic;
  Table buffers;         ///< no rows: written by a version that knew none
  TileSteps tile_steps;  ///< no rows: not recorded
  /// The file that `tessera sensitivity` left beside it; null: none, or of another run.
  nlohmann::ordered_json sensitivity = nullptr;
  Table raster = {};  ///< no rows: nothing spikes
};

/// Reads what `tessera run` left in `folder`. Throws UserError naming the file, and what is missing
/// in it.
RunFolder read_run(const std::string& folder);

}  // namespace tessera::report
