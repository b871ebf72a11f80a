#pragma once

#include <array>
#include <map>
#include <vector>

#include "sim/trace/format.h"
#include "sim/trace/perfetto_writer.h"
#include "sim/trace/settings.h"

namespace tessera::trace {

/// trace.pftrace: a track of supersteps with the phases of the last-arriving tile inside, counters,
/// a track a chosen tile and one a worker. Times are ns, rounded down; the cycles stand beside.
class PerfettoTrace : public Format {
 public:
  /// `images` outlives it.
  PerfettoTrace(std::ostream& out, const Settings& settings, const program::Images& images);

  void counter(Counter counter, const std::vector<StepCounter::Sample>& samples) override;
  void superstep(const Superstep& superstep, const TileLog& last) override;
  void tile(std::size_t chosen, const TileLog& log, const Superstep& superstep) override;
  void end_tiles(Cycle at) override;
  void finish(Cycle at, const std::string& left_out) override;
  [[nodiscard]] std::uint64_t bytes() const override { return writer_.bytes(); }

 private:
  void add_tiles();
  void states(PerfettoWriter::Track track, const TileLog& log, const Superstep& superstep);
  PerfettoWriter::Name codelet(TileId tile, std::uint32_t pc);
  [[nodiscard]] std::uint64_t nanoseconds(Cycle cycle) const {
    return cycle.count() * settings_.cycle_femtoseconds / 1'000'000;
  }

  const Settings settings_;
  const program::Images& images_;
  PerfettoWriter writer_;
  PerfettoWriter::Track machine_, supersteps_;
  std::array<PerfettoWriter::Track, kCounters> counters_{};
  std::vector<PerfettoWriter::Track> tiles_;  ///< those of their workers follow each
  std::array<PerfettoWriter::Name, std::size(kStateNames)> states_{};
  struct Annotations {
    PerfettoWriter::Name cycle, cycles, superstep, measured, last_tile, bytes, instructions, flops;
  } annotations_{};
  std::map<std::pair<const program::CodeImage*, std::uint32_t>, PerfettoWriter::Name> codelets_;
};

}  // namespace tessera::trace
