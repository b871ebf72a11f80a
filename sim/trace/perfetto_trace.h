#pragma once

#include <array>
#include <map>
#include <vector>

#include "sim/trace/format.h"
#include "sim/trace/perfetto_writer.h"
#include "sim/trace/settings.h"

namespace tessera::trace {

/// trace.pftrace: a track of supersteps (one a zone) with the phases of the last-arriving tile
/// inside, counters,
/// a track a chosen tile, one a worker and those of what the tile receives. Times are ns, rounded
/// down; the cycles stand beside.
class PerfettoTrace : public Format {
 public:
  PerfettoTrace(std::ostream& out, const Settings& settings);

  void add_name(std::string_view text) override;
  void counter(Counter counter, std::span<const StepCounter::Sample> samples) override;
  void superstep(const Superstep& superstep) override;
  void spans(std::span<const Span> spans) override;
  void transfers(std::span<const Received> transfers) override;
  void nothing_before(Cycle until) override;
  void end_spans(Cycle at) override;
  void end_supersteps(Cycle at) override;
  void finish(Cycle at, std::span<const std::string> remarks) override;
  [[nodiscard]] std::uint64_t bytes() const override { return writer_.bytes(); }

 private:
  void add_lanes(const Settings& settings);
  PerfettoWriter::Track track_of(const Received& transfer);
  PerfettoWriter::Name source_name(TileId tile);
  void slice(PerfettoWriter::Track track, const Span& span);
  [[nodiscard]] std::uint64_t nanoseconds(Cycle cycle) const {
    return cycle.count() * cycle_femtoseconds_ / 1'000'000;
  }

  const std::uint64_t cycle_femtoseconds_;
  PerfettoWriter writer_;
  PerfettoWriter::Track machine_;
  std::vector<PerfettoWriter::Track> supersteps_;  ///< by zone
  std::array<PerfettoWriter::Track, kCounters> counters_{};
  PerfettoWriter::Track first_lane_ = 0;
  /// Slices of one track do not overlap: a tile that receives from several at once has more.
  struct Receiving {
    PerfettoWriter::Track track;
    Cycle busy_until;
  };
  std::map<Lane, std::vector<Receiving>> receiving_;
  std::vector<PerfettoWriter::Name> names_;
  std::map<TileId, PerfettoWriter::Name> sources_;
  struct Annotations {
    PerfettoWriter::Name cycle, cycles, superstep, measured, last_tile, bytes, instructions, flops,
        from;
  } annotations_{};
};

}  // namespace tessera::trace
