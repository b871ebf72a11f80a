#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/types.h"
#include "sim/engine/access_log.h"

namespace tessera {

/// Tracks which workers accessed which bytes of one tile's SRAM and external memory between a `run`
/// and the next `join`, and which bytes transfers in flight own. Workers of one window may share
/// what they only read; until a transfer has been waited for, its sources may not be written nor
/// its destinations accessed.
class RaceCheck {
 public:
  using Ranges = std::vector<engine::ByteRange>;

  explicit RaceCheck(std::uint32_t workers) : logs_(workers), outer_logs_(workers) {}

  /// The log that records a worker's accesses of this window.
  engine::AccessLog& log(std::uint32_t worker) { return logs_[worker]; }
  /// The log of a worker's transfers, in external memory.
  engine::AccessLog& outer_log(std::uint32_t worker) { return outer_logs_[worker]; }
  /// The first conflict of `worker`'s recorded accesses: "data race at address 0x40: it wrote what
  /// worker 2 has read"; nothing if there is none.
  std::optional<std::string> check_worker(std::uint32_t worker);
  /// Ends the window: all workers have been joined.
  void end_window();

  /// A transfer owns `sources` and `destinations` until end_transfer(). Returns a conflict with
  /// running workers or another transfer.
  std::optional<std::string> begin_transfer(Address list, const Ranges& sources,
                                            const Ranges& destinations);
  void end_transfer(Address list);
  /// Returns how often the list was started before, and counts this start.
  std::uint64_t count_start(Address list) { return starts_[list.count()]++; }
  [[nodiscard]] bool in_flight() const { return !transfers_.empty(); }

  /// The log of the supervisor's accesses while a transfer is in flight.
  engine::AccessLog& supervisor_log() { return supervisor_; }
  /// Checks the supervisor's log like check_worker(), then clears it.
  std::optional<std::string> check_supervisor();

 private:
  struct Transfer {
    Address list;
    Ranges sources, destinations;  ///< ascending and disjoint
  };
  std::optional<std::string> check_transfers(engine::AccessLog& log) const;

  std::vector<engine::AccessLog> logs_;
  std::vector<engine::AccessLog> outer_logs_;
  engine::AccessLog supervisor_;
  std::vector<Transfer> transfers_;                ///< in flight
  std::map<std::uint64_t, std::uint64_t> starts_;  ///< by list
};

}  // namespace tessera
