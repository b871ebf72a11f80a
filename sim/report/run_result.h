#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/types.h"
#include "sim/isa/activity.h"
#include "sim/report/energy_result.h"

/// Results of a run that a machine passes to the report. Integers only, except energy.
namespace tessera {

/// Attribution of cycles: backwards from the last-arriving tile of each superstep, and through the
/// tile that started an exchange last if that was waited for. The parts sum to total().
struct TimeParts {
  Cycle compute, exchange, sync, link, host, wait;
  Cycle port_wait = {};  ///< part of `wait`: ports busy with other transfers
  Cycle external = {};   ///< part of `exchange`: external memory
  [[nodiscard]] Cycle total() const { return compute + exchange + sync + link + host + wait; }
  TimeParts& operator+=(const TimeParts& other) {
    compute += other.compute;
    exchange += other.exchange;
    sync += other.sync;
    link += other.link;
    host += other.host;
    wait += other.wait;
    port_wait += other.port_wait;
    external += other.external;
    return *this;
  }
};

/// From one barrier's release to the next, in one zone.
struct SuperstepRecord {
  Cycle start;
  TimeParts time;
  TileId last_tile;            ///< the tile that all others waited for
  std::uint32_t program_step;  ///< index in Images::steps of the last step entered
  std::uint64_t instructions = 0;
  std::uint64_t flops = 0;
  Bytes exchanged;                                  ///< delivered to tiles by exchanges
  Bytes external_read = {}, external_written = {};  ///< from and to external memory
  std::vector<std::uint32_t> exchanges;  ///< exchanges that moved bytes: indices in program::Flow
  Cycle least_compute, most_compute;     ///< minimum and maximum over tiles, for the imbalance
  std::uint64_t sum_compute = 0;
  Cycle overlapped;  ///< transfer cycles that did not block their tile, summed over tiles
  std::uint32_t zone = 0;
};

struct TileRecord {
  Cycle compute, exchange, sync;  ///< busy, moving bytes, waiting at barriers
  std::uint64_t instructions = 0;
  std::uint64_t flops = 0;
  Bytes sent, received;  ///< by exchanges
  Bytes external = {};   ///< from and to external memory
};

/// Activity of one tile, as counted for energy and bounds.
struct TileActivity {
  isa::ActivityCounts counts{};
  std::uint64_t byte_micrometres = 0;  ///< bytes sent x distance to their farthest receiver

  void add(const TileActivity& other) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
    byte_micrometres += other.byte_micrometres;
  }
};

/// Cycles of worker contexts by state. Together with the cycles of contexts without a worker they
/// sum to contexts x cycles.
struct Stalls {
  enum What : std::uint8_t {
    issued,       ///< one instruction issued, or occupied its slots
    paired,       ///< two instructions issued as a pair
    load,         ///< waited for a load's result
    arithmetic,   ///< for an integer or floating-point result or unit
    matrix,       ///< for a matrix unit's result
    branch,       ///< after a taken branch
    external,     ///< for its own transfer with external memory
    arbitration,  ///< other contexts' turns; on a revolver also the reissue distance
  };
  static constexpr std::size_t kCount = 8;
  std::array<std::uint64_t, kCount> cycles{};

  void add_issue(std::uint64_t slots, bool pair) { cycles[pair ? paired : issued] += slots; }
  Stalls& operator+=(const Stalls& other) {
    for (std::size_t i = 0; i < kCount; ++i) cycles[i] += other.cycles[i];
    return *this;
  }
};

/// One run of a program that runs several times.
struct RunRecord {
  Cycle cycles;
  std::uint64_t supersteps = 0;
};

/// Cycles of each tile per superstep, or per group of supersteps. Empty unless requested.
struct TileSteps {
  static constexpr std::size_t kParts = 3;  ///< computing, in exchanges, waiting for the other ends
  std::uint32_t tiles = 0;
  std::uint64_t supersteps_a_row = 1;
  std::vector<std::uint32_t> cycles;  ///< [row][tile][part]

  [[nodiscard]] std::uint64_t rows() const {
    return tiles == 0 ? 0 : cycles.size() / (kParts * tiles);
  }
};

/// Activity of one channel of external memory over all runs, measured region or not.
struct ChannelRecord {
  std::uint64_t bytes_read = 0;  ///< as requested: the unused part of a burst does not count
  std::uint64_t bytes_written = 0;
  std::uint64_t row_hits = 0;       ///< requests whose row was open
  std::uint64_t row_misses = 0;     ///< requests whose bank was closed
  std::uint64_t row_conflicts = 0;  ///< requests whose bank had another row open
  std::uint64_t refreshes = 0;      ///< before the last request that was chosen or is next
  std::uint64_t turnarounds = 0;    ///< switches of the data bus between reading and writing
  std::uint64_t busy_clocks = 0;    ///< DRAM clocks with data on the bus

  bool operator==(const ChannelRecord&) const = default;
  ChannelRecord& operator+=(const ChannelRecord& other) {
    bytes_read += other.bytes_read;
    bytes_written += other.bytes_written;
    row_hits += other.row_hits;
    row_misses += other.row_misses;
    row_conflicts += other.row_conflicts;
    refreshes += other.refreshes;
    turnarounds += other.turnarounds;
    busy_clocks += other.busy_clocks;
    return *this;
  }
};

/// Totals cover all runs.
struct RunResult {
  TimeParts time;  ///< for the measured region
  std::uint64_t supersteps = 0;
  std::uint64_t instructions = 0;
  std::uint64_t flops = 0;  ///< floating-point operations executed, including padding
  Bytes exchange_bytes;     ///< delivered; a multicast counts per receiver
  Bytes multicast_bytes;    ///< delivered to receivers beyond the first
  Bytes host_bytes;         ///< moved by transfers during the runs
  Bytes measured_host_bytes =
      {};  ///< measured; includes transfers before and after if the host is measured
  Bytes external_read = {}, external_written = {};  ///< from and to external memory
  std::vector<ChannelRecord> channels;  ///< of external memory: the chip's, or tile by tile
  Bytes max_tile_sent, max_tile_received;
  Cycle overlapped;  ///< as SuperstepRecord::overlapped
  std::vector<RunRecord> runs;
  std::vector<SuperstepRecord> steps;  ///< in order of runs
  std::vector<TileRecord> tiles;
  TileSteps tile_steps;
  std::vector<Stalls> stalls;                                  ///< per tile
  std::vector<std::pair<std::string, Stalls>> codelet_stalls;  ///< per codelet, by name
  std::vector<TileActivity> activity;                          ///< per tile
  std::optional<EnergyResult> energy;
  double host_seconds = 0;  ///< host time from each run's first cycle to its last
};

}  // namespace tessera
