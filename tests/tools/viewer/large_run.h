#pragma once

#include <filesystem>

#include "sim/config/json_text.h"

namespace tessera::test {

struct LargeRun {
  std::uint32_t tiles;
  std::uint64_t supersteps;
  std::uint64_t rows;  ///< in tile_steps.npy: supersteps, or so many after adding up by twos
};

/// Writes the files of a run as large as asked for: five phases in turn, seeded noise on every tile
/// and superstep, the config of `sample` (a report.json).
void write_large_run(const std::filesystem::path& folder, config::Json sample, const LargeRun& run);

}  // namespace tessera::test
