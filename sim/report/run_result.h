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

/// Numbers that a machine hands to the report after a run. Integers only, except energy.
namespace tessera {

/// Where cycles went: from the last-arriving tile of each superstep backwards, through the tile
/// that started an exchange last wherever it was waited for. The parts sum to total().
struct TimeParts {
  Cycle compute, exchange, sync, link, host, wait;
  Cycle port_wait = {};  ///< part of `wait`: for ports that other transfers kept busy
  Cycle external = {};   ///< part of `exchange`: for memory outside
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

/// From one barrier's release to the next one's, in one zone.
struct SuperstepRecord {
  Cycle start;
  TimeParts time;
  TileId last_tile;            ///< the tile that all others waited for
  std::uint32_t program_step;  ///< index in Images::steps of the last step entered
  std::uint64_t instructions = 0;
  std::uint64_t flops = 0;
  Bytes exchanged;                                  ///< delivered to tiles by exchanges
  Bytes external_read = {}, external_written = {};  ///< from and to memory outside
  std::vector<std::uint32_t> exchanges;  ///< that moved their bytes: indices of program::Flow's
  Cycle least_compute, most_compute;     ///< over tiles, for the imbalance
  std::uint64_t sum_compute = 0;
  Cycle overlapped;  ///< summed over tiles: of transfers, in which their tiles were not blocked for
                     ///< them
  std::uint32_t zone = 0;
};

struct TileRecord {
  Cycle compute, exchange, sync;  ///< busy, moving bytes, waiting at barriers
  std::uint64_t instructions = 0;
  std::uint64_t flops = 0;
  Bytes sent, received;  ///< by exchanges
  Bytes external = {};   ///< from and to memory outside
};

/// Activity of one tile, as energy and bounds count it.
struct TileActivity {
  isa::ActivityCounts counts{};
  std::uint64_t byte_micrometres = 0;  ///< bytes it sent x the way to their farthest receiver

  void add(const TileActivity& other) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
    byte_micrometres += other.byte_micrometres;
  }
};

/// Where cycles of worker contexts went. With those in which a context had no worker they are
/// contexts x cycles.
struct Stalls {
  enum What : std::uint8_t {
    issued,       ///< an instruction issued, or held its slots
    paired,       ///< two did
    load,         ///< waited for what a load brings
    arithmetic,   ///< for what an integer or floating-point instruction makes, or its unit
    matrix,       ///< for what the matrix unit makes
    branch,       ///< behind a taken branch
    external,     ///< for a transfer with memory outside that it has started
    arbitration,  ///< other contexts' turns; until a context of a revolver may issue again
  };
  static constexpr std::size_t kCount = 8;
  std::array<std::uint64_t, kCount> cycles{};

  void add_issue(std::uint64_t slots, bool pair) { cycles[pair ? paired : issued] += slots; }
  Stalls& operator+=(const Stalls& other) {
    for (std::size_t i = 0; i < kCount; ++i) cycles[i] += other.cycles[i];
    return *this;
  }
};

/// One of the runs of a program that runs several times.
struct RunRecord {
  Cycle cycles;
  std::uint64_t supersteps = 0;
};

/// Cycles of each tile in each superstep, or in so many together. Empty unless asked for.
struct TileSteps {
  static constexpr std::size_t kParts = 3;  ///< computing, in exchanges, waiting for their others
  std::uint32_t tiles = 0;
  std::uint64_t supersteps_a_row = 1;
  std::vector<std::uint32_t> cycles;  ///< [row][tile][part]

  [[nodiscard]] std::uint64_t rows() const {
    return tiles == 0 ? 0 : cycles.size() / (kParts * tiles);
  }
};

/// The activity of one channel of memory outside, measured or not.
struct ChannelRecord {
  std::uint64_t bytes_read = 0;  ///< asked for: what a burst moves beside them does not count
  std::uint64_t bytes_written = 0;
  std::uint64_t row_hits = 0;       ///< requests whose row was open
  std::uint64_t row_misses = 0;     ///< requests whose bank was closed
  std::uint64_t row_conflicts = 0;  ///< requests whose bank had another row open
  std::uint64_t refreshes = 0;      ///< before the last request that was chosen or is next
  std::uint64_t turnarounds = 0;    ///< switches of the data bus from reads to writes or back
  std::uint64_t busy_clocks = 0;    ///< DRAM clocks in which the data bus moves data

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

/// The totals are those of all runs.
struct RunResult {
  TimeParts time;  ///< for the measured region
  std::uint64_t supersteps = 0;
  std::uint64_t instructions = 0;
  std::uint64_t flops = 0;  ///< executed floating-point operations, padding included
  Bytes exchange_bytes;     ///< delivered; a multicast counts once a receiver
  Bytes multicast_bytes;    ///< delivered beyond the first receiver
  Bytes host_bytes;         ///< moved by transfers during the runs
  Bytes measured_host_bytes =
      {};  ///< those measured; adds transfers before and after if the host is measured
  Bytes external_read = {}, external_written = {};  ///< from and to memory outside
  std::vector<ChannelRecord> channels;  ///< channels of memory outside: the chip's, or tile by tile
  Bytes max_tile_sent, max_tile_received;
  Cycle overlapped;  ///< as SuperstepRecord's
  std::vector<RunRecord> runs;
  std::vector<SuperstepRecord> steps;  ///< run by run
  std::vector<TileRecord> tiles;
  TileSteps tile_steps;
  std::vector<Stalls> stalls;                                  ///< by tile
  std::vector<std::pair<std::string, Stalls>> codelet_stalls;  ///< by codelet's name
  std::vector<TileActivity> activity;                          ///< by tile
  std::optional<EnergyResult> energy;
  double host_seconds = 0;  ///< host time from the first cycle of each run to its last
};

}  // namespace tessera
