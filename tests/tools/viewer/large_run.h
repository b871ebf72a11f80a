#pragma once

#include <filesystem>

#include "sim/config/json_text.h"

namespace tessera::test {

struct LargeRun {
  std::uint32_t tiles;
  std::uint64_t supersteps;
  std::uint64_t rows;  ///< of tile_steps.npy: supersteps, or fewer after summing pairs of them
};

/// Writes the files of a run of that size: five phases in turn, seeded noise on every tile and
/// superstep, and the config of `sample` (a report.json).
void write_large_run(const std::filesystem::path& folder, config::Json sample, const LargeRun& run);

}  // namespace tessera::test
