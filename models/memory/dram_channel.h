#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/memory/clock_crossing.h"
#include "models/memory/request_queue.h"
#include "sim/base/types.h"
#include "sim/machine/external_config.h"
#include "sim/report/run_result.h"

namespace tessera {

/// One DRAM channel: banks that each keep a row open, one data bus, refresh of all banks at once.
/// Leaves out: conflicts on the command bus, tRRD, tFAW and tCCD (activates and bursts are spaced
/// only by the data bus), bank groups, ranks, power-down, per-bank and postponed refresh, write
/// batching. The timing rules are at DramConfig; names are JEDEC's (JESD79 and JESD250).
///
/// Arbitration: among the first `window` waiting requests, the first row hit in the bus's current
/// direction; else the first row hit; else the oldest. A request overtaken by `window` others goes
/// next in any case. Data pass the bus in the order of choice. A request is chosen tRP + tRCD +
/// max(tCL, tCWL) before the bus is free, the latest time that leaves no gap even if its bank must
/// close one row and open another; never during a refresh.
class DramChannel {
 public:
  struct Request {
    std::uint64_t address;  ///< in the channel: column in the row, then bank, then row
    std::uint32_t bytes;    ///< at least 1, within one row
    bool write;
    std::uint32_t tag;  ///< the caller's
    Cycle arrival;
  };
  /// When a request's data pass the data bus, in chip cycles rounded up.
  struct Service {
    std::uint32_t tag;
    bool write;
    Cycle first;  ///< start of its first data
    Cycle last;   ///< end of its last data
  };
  using Statistics = ChannelRecord;

  /// `chip_ghz` is the clock of arrivals; both clocks are rounded to whole kHz.
  DramChannel(const DramConfig& config, double chip_ghz, std::uint32_t window);

  /// Arrivals must not decrease from call to call.
  void push(const Request& request);
  /// The cycle of the next choice; nothing if no request waits. Requests that arrive later do not
  /// change it.
  [[nodiscard]] std::optional<Cycle> next() const;
  /// Serves the next request. All requests that arrive up to next() must have been pushed.
  Service serve();
  [[nodiscard]] const Statistics& statistics() const { return statistics_; }

 private:
  static constexpr std::uint64_t kClosed = UINT64_MAX;

  struct Waiting {
    Request request;
    std::uint64_t arrival;  ///< in DRAM clocks
    std::uint64_t row;
    std::uint32_t bank;
    std::uint32_t overtaken;  ///< number of later arrivals served first
  };
  /// Times in DRAM clocks.
  struct Bank {
    std::uint64_t row = kClosed;
    std::uint64_t column_from = 0;     ///< reads and writes of the row: activate + tRCD
    std::uint64_t precharge_from = 0;  ///< activate + tRAS, last read + tRTP, last data + tWR
  };

  void settle();
  void refresh();
  [[nodiscard]] std::size_t choose() const;
  std::uint64_t open(Bank& bank, std::uint64_t row);
  std::uint64_t data_from(std::uint64_t column_from, bool write) const;
  void count(const Request& request, std::uint64_t data_clocks);

  DramConfig config_;
  ClockCrossing clocks_;
  std::uint32_t window_;
  std::uint64_t burst_clocks_;
  std::uint64_t lead_;  ///< clocks from a choice to data, worst case
  std::vector<Bank> banks_;
  RequestQueue<Waiting> queue_;
  std::uint64_t chooses_at_ = 0;  ///< the next choice, if the queue is not empty
  std::uint64_t free_from_ = 0;   ///< no choice before it
  std::uint64_t bus_free_ = 0;
  bool used_ = false;  ///< the bus has moved data; its direction:
  bool writes_ = false;
  std::uint64_t refresh_at_;     ///< when the next refresh is due
  std::uint64_t refreshed_ = 0;  ///< end of the last one
  bool any_open_ = false;
  Statistics statistics_;
};

}  // namespace tessera
