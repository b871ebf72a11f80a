#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/program/image.h"
#include "sim/report/run_result.h"
#include "sim/trace/step_counter.h"
#include "sim/trace/tile_log.h"

namespace tessera::trace {

/// A superstep that has ended.
struct Superstep {
  std::uint64_t number;  ///< of all that the machine ran, from 0 on
  const SuperstepRecord& record;
  bool measured;
  const program::StepInfo* step;  ///< null: it belongs to none

  [[nodiscard]] Cycle start() const { return record.start; }
  [[nodiscard]] Cycle end() const { return record.start + record.time.total(); }
};

/// What the machine has of at any time.
enum class Counter : std::uint8_t { active_tiles, bytes_in_flight, sram_in_use };
constexpr std::size_t kCounters = 3;

/// A kind of trace file. Supersteps come in order of time; a counter's samples of times before a
/// superstep come before it, and before nothing later; each chosen tile follows its superstep.
class Format {
 public:
  Format() = default;
  Format(const Format&) = delete;
  Format& operator=(const Format&) = delete;
  virtual ~Format() = default;

  virtual void counter(Counter counter, const std::vector<StepCounter::Sample>& samples) = 0;
  /// `last`: what the tile did that all others waited for.
  virtual void superstep(const Superstep& superstep, const TileLog& last) = 0;
  /// What the tile did; `chosen`: its place in Settings::tiles.
  virtual void tile(std::size_t chosen, const TileLog& log, const Superstep& superstep) = 0;
  /// Nothing more will be told of tiles; they are not known from `at` on.
  virtual void end_tiles(Cycle at) = 0;
  /// Ends the file, which says what it leaves out, unless that is empty.
  virtual void finish(Cycle at, const std::string& left_out) = 0;

  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  /// More of them that are sure to come.
  [[nodiscard]] virtual std::uint64_t most_pending_bytes() const { return 0; }
  /// What one stretch of a tile's or worker's time, or one sample, adds at most.
  static constexpr std::uint64_t kMostBytes = 128;
};

}  // namespace tessera::trace
