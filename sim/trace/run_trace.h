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

/// The trace of one run, written while it goes: trace.pftrace for Perfetto and trace.vcd for
/// GTKWave, each within its limit. Unless committed it leaves nothing.
class RunTrace {
 public:
  /// Creates the folder. Throws UserError. `images` outlives it.
  RunTrace(const Settings& settings, const program::Images& images, const std::string& folder);
  RunTrace(const RunTrace&) = delete;
  RunTrace& operator=(const RunTrace&) = delete;
  ~RunTrace() = default;

  /// Where a tile's host thread writes what it does.
  [[nodiscard]] TileLog& log(TileId tile) { return logs_[index(tile)]; }
  /// A tile has submitted its side of a transfer with memory outside or the host, which is told
  /// when it has ended; until finished() of the same cycle it may begin from `at` on.
  void submitted(Cycle at) { submitted_.insert(at); }
  void finished(Cycle at) { submitted_.erase(submitted_.find(at)); }
  /// Bytes under way from `begin` to `done`.
  void transfer(Cycle begin, Cycle done, Bytes bytes, program::Carrier carrier);
  /// True if a file shows tiles: it then needs the transfers that they receive.
  [[nodiscard]] bool wants_transfers() const { return wants_tiles_; }
  /// Records what tiles received in one exchange, in any order.
  void exchanged(std::span<const Transfer> transfers);
  /// A superstep of a zone has ended, and with it what the logs of the zone's tiles hold.
  void close(const SuperstepRecord& record, bool measured);
  /// The run will not go on; the superstep that is open is shown as far as it came. `why`: the
  /// first line of it stands in both files.
  void stop(std::string_view why);

  /// Ends the files; they appear. Throws UserError.
  void commit();
  /// A line a file: its name, its size, what it leaves out.
  [[nodiscard]] std::string summary() const;

  /// Those of an earlier run into `folder`.
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
  /// The state of a zone as far as it is known.
  struct Zone {
    std::vector<TileId> tiles;
    Cycle start;                  ///< start of the open superstep
    bool ended = false;           ///< unless the program runs again
    std::int64_t live_bytes = 0;  ///< on its fullest tile
  };
  static std::vector<Zone> zones_of(const program::Images& images);
  struct Live {
    std::uint32_t zone;
    std::int64_t bytes;
  };

  std::vector<Zone> zones_;
  const Settings settings_;
  NewFolder folder_;
  std::deque<TraceFile> files_;  ///< they do not move
  std::vector<TileLog> logs_;
  std::array<StepCounter, kCounters> counters_;
  std::map<std::string, Name, std::less<>> names_;
  std::map<std::pair<const program::CodeImage*, std::uint32_t>, Name> codelets_;
  std::vector<Span> phases_, spans_;  ///< spans in the superstep that is being closed
  std::vector<Received> transfers_;   ///< since a superstep was closed, to chosen tiles
  std::vector<Lane> lanes_;           ///< by tile; kNoLane: not chosen
  bool wants_tiles_ = false;
  std::multiset<Cycle> submitted_;
  std::set<Cycle> starts_;            ///< superstep starts; counters up to them not taken yet
  std::multimap<Cycle, Live> lives_;  ///< changes that are not counted yet
  std::int64_t sram_in_use_ = 0;
  std::uint64_t supersteps_ = 0;
  Cycle end_;  ///< end of all supersteps
  std::string stopped_;
};

}  // namespace tessera::trace
