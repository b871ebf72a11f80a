#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/report/run_result.h"
#include "sim/trace/settings.h"
#include "sim/trace/span.h"
#include "sim/trace/step_counter.h"

namespace tessera::trace {

/// A superstep that has ended.
struct Superstep {
  std::uint64_t number;  ///< count over all that the machine ran, from 0 on
  const SuperstepRecord& record;
  bool measured;
  Name step;                     ///< step name in the program
  std::span<const Span> phases;  ///< phases of the tile that all others waited for; on no lane

  [[nodiscard]] Cycle start() const { return record.start; }
  [[nodiscard]] Cycle end() const { return record.start + record.time.total(); }
};

/// Spans of chosen tiles and their workers in a superstep, in the order of their lanes.
struct Told {
  std::span<const Span> spans;
  std::span<const Received> transfers;
};

/// Counters of the machine over time.
enum class Counter : std::uint8_t {
  active_tiles,
  bytes_in_flight,
  sram_in_use,
  external_in_flight,
  host_in_flight
};
constexpr std::size_t kCounters = 5;

/// A kind of trace file. Supersteps of one zone come in order of time, and so do a counter's
/// samples; of different zones, and transfers, in any order, but none before what nothing_before()
/// said.
class Format {
 public:
  Format() = default;
  Format(const Format&) = delete;
  Format& operator=(const Format&) = delete;
  virtual ~Format() = default;

  /// The next Name; the first of all are those of kStateNames.
  virtual void add_name(std::string_view text) = 0;
  virtual void counter(Counter counter, std::span<const StepCounter::Sample> samples) = 0;
  virtual void superstep(const Superstep& superstep) = 0;
  /// Adds spans of its tiles and workers; those of one lane in order of time.
  virtual void spans(std::span<const Span> spans) = 0;
  /// Adds transfers that its tiles received; those of one lane in order of time.
  virtual void transfers(std::span<const Received> transfers) = 0;
  /// All that is told from now on lies at `until` or later.
  virtual void nothing_before(Cycle /*until*/) {}
  /// No more of both will be told; what the lanes do is not known from `at` on.
  virtual void end_spans(Cycle /*at*/) {}
  /// No more supersteps will be told.
  virtual void end_supersteps(Cycle /*at*/) {}
  /// Ends the file with remarks: what it leaves out, why the run stopped.
  virtual void finish(Cycle at, std::span<const std::string> remarks) = 0;

  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  /// More of them that are sure to come.
  [[nodiscard]] virtual std::uint64_t most_pending_bytes() const { return 0; }
  /// Most bytes of one span or sample, and how many of them a transfer counts as.
  static constexpr std::uint64_t kMostBytes = 192, kTransfer = 2;
};

// Content of trace.pftrace and of trace.vcd.
std::unique_ptr<Format> perfetto_trace(std::ostream& out, const Settings& settings);
std::unique_ptr<Format> vcd_trace(std::ostream& out, const Settings& settings);

}  // namespace tessera::trace
