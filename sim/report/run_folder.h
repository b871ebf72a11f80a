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
  Table buffers;         ///< no rows if written by a version without buffers.csv
  TileSteps tile_steps;  ///< no rows if not recorded
  /// The file that `tessera sensitivity` stored there; null if there is none, or of another run.
  nlohmann::ordered_json sensitivity = nullptr;
  Table raster = {};  ///< no rows if nothing spikes
};

/// Reads the files of `tessera run` in `folder`. Throws UserError naming the file and its fault.
RunFolder read_run(const std::string& folder);

}  // namespace tessera::report
