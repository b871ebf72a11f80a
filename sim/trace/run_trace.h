#pragma once

#include <array>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/unfinished.h"
#include "sim/program/image.h"
#include "sim/trace/trace_file.h"

namespace tessera::trace {

/// Writes the trace of a run while it proceeds: trace.pftrace for Perfetto and trace.vcd for
/// GTKWave, each within its limit. Without commit() no files remain.
class RunTrace {
 public:
  /// Creates the folder. Throws UserError. `images` must outlive this.
  RunTrace(const Settings& settings, const program::Images& images, const std::string& folder);
  RunTrace(const RunTrace&) = delete;
  RunTrace& operator=(const RunTrace&) = delete;
  ~RunTrace() = default;

  /// The tile's log, written by the tile's host thread.
  [[nodiscard]] TileLog& log(TileId tile) { return logs_[index(tile)]; }
  /// A tile has submitted a transfer with external memory or the host. It is reported when it ends;
  /// until finished() of the same cycle it may begin at `at` or later.
  void submitted(Cycle at) { submitted_.insert(at); }
  void finished(Cycle at) { submitted_.erase(submitted_.find(at)); }
  /// Reports bytes in flight from `begin` to `done`.
  void transfer(Cycle begin, Cycle done, Bytes bytes, program::Carrier carrier);
  /// True if a file shows tiles: it then needs their received transfers.
  [[nodiscard]] bool wants_transfers() const { return wants_tiles_; }
  /// Records the bytes that tiles received in one exchange, in any order.
  void exchanged(std::span<const Transfer> transfers);
  /// Ends a superstep of a zone: writes and clears the logs of the zone's tiles.
  void close(const SuperstepRecord& record, bool measured);
  /// The run does not continue; shows the open superstep up to where it got. The first line of
  /// `why` is stored in both files.
  void stop(std::string_view why);

  /// Completes and publishes the files. Throws UserError.
  void commit();
  /// One line per file: name, size, omissions.
  [[nodiscard]] std::string summary() const;

  /// Removes an earlier run's traces from `folder`.
  static void remove_files(const std::string& folder);

 private:
  Name name(std::string_view text);
  Name codelet(TileId tile, std::uint32_t pc);
  static constexpr Lane kNoLane = UINT32_MAX;

  void add(const SuperstepRecord& record, bool measured, Name step);
  void add_transfers_of_workers(std::span<const TileId> tiles);
  void add_spans(const Superstep& superstep);
  void add_workers(TileId tile, Lane lane);
  void count_active(const Superstep& superstep);
  void take_counters(Cycle until);
  [[nodiscard]] Cycle settled() const;
  void settle(Cycle until);
  [[nodiscard]] StepCounter& counter(Counter which) {
    return counters_[static_cast<std::size_t>(which)];
  }

  const program::Images& images_;
  /// The known state of a zone.
  struct Zone {
    std::vector<TileId> tiles;
    Cycle start;                  ///< start of the open superstep
    bool ended = false;           ///< reset if the program runs again
    std::int64_t live_bytes = 0;  ///< on the zone's fullest tile
  };
  static std::vector<Zone> zones_of(const program::Images& images);
  struct Live {
    std::uint32_t zone;
    std::int64_t bytes;
  };

  std::vector<Zone> zones_;
  const Settings settings_;
  NewFolder folder_;
  std::deque<TraceFile> files_;  ///< cannot be moved
  std::vector<TileLog> logs_;
  std::array<StepCounter, kCounters> counters_;
  std::map<std::string, Name, std::less<>> names_;
  std::map<std::pair<const program::CodeImage*, std::uint32_t>, Name> codelets_;
  std::vector<Span> phases_, spans_;  ///< spans of the superstep being closed
  std::vector<Received> transfers_;   ///< to chosen tiles, since the last closed superstep
  std::vector<Lane> lanes_;           ///< by tile; kNoLane: not chosen
  bool wants_tiles_ = false;
  std::multiset<Cycle> submitted_;
  std::set<Cycle> starts_;            ///< superstep starts not sampled yet by counters
  std::multimap<Cycle, Live> lives_;  ///< changes not counted yet
  std::int64_t sram_in_use_ = 0;
  std::uint64_t supersteps_ = 0;
  Cycle end_;  ///< end of all supersteps
  std::string stopped_;
};

}  // namespace tessera::trace
