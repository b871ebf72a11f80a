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

/// A finished superstep.
struct Superstep {
  std::uint64_t number;  ///< counted over all of the machine's supersteps, from 0
  const SuperstepRecord& record;
  bool measured;
  Name step;                     ///< step name in the program
  std::span<const Span> phases;  ///< phases of the last-arriving tile; without a lane

  [[nodiscard]] Cycle start() const { return record.start; }
  [[nodiscard]] Cycle end() const { return record.start + record.time.total(); }
};

/// Spans and transfers of chosen tiles and their workers in a superstep, ordered by lane.
struct SuperstepDetail {
  std::span<const Span> spans;
  std::span<const Received> transfers;
};

/// The machine's counters.
enum class Counter : std::uint8_t {
  active_tiles,
  bytes_in_flight,
  sram_in_use,
  external_in_flight,
  host_in_flight
};
constexpr std::size_t kCounters = 5;

/// A kind of trace file. Supersteps of one zone come in time order, as do a counter's samples;
/// those of different zones, and transfers, come in any order, but never before the last
/// nothing_before().
class Format {
 public:
  Format() = default;
  Format(const Format&) = delete;
  Format& operator=(const Format&) = delete;
  virtual ~Format() = default;

  /// Adds the next Name; the first ones must be those of kStateNames.
  virtual void add_name(std::string_view text) = 0;
  virtual void counter(Counter counter, std::span<const StepCounter::Sample> samples) = 0;
  virtual void superstep(const Superstep& superstep) = 0;
  /// Adds spans of the file's tiles and workers; those of one lane in time order.
  virtual void spans(std::span<const Span> spans) = 0;
  /// Adds transfers received by the file's tiles; those of one lane in time order.
  virtual void transfers(std::span<const Received> transfers) = 0;
  /// All later calls concern times at or after `until`.
  virtual void nothing_before(Cycle /*until*/) {}
  /// No more spans or transfers follow; the lanes' states are unknown from `at` on.
  virtual void end_spans(Cycle /*at*/) {}
  /// No more supersteps follow.
  virtual void end_supersteps(Cycle /*at*/) {}
  /// Ends the file with remarks: what it omits, why the run stopped.
  virtual void finish(Cycle at, std::span<const std::string> remarks) = 0;

  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  /// Upper bound on bytes not written yet.
  [[nodiscard]] virtual std::uint64_t most_pending_bytes() const { return 0; }
  /// Maximum bytes of a span or sample; a transfer counts as kTransfer of them.
  static constexpr std::uint64_t kMostBytes = 192, kTransfer = 2;
};

// Formats of trace.pftrace and trace.vcd.
std::unique_ptr<Format> perfetto_trace(std::ostream& out, const Settings& settings);
std::unique_ptr<Format> vcd_trace(std::ostream& out, const Settings& settings);

}  // namespace tessera::trace
