#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/types.h"
#include "sim/engine/access_log.h"

namespace tessera {

/// Who touched which bytes of one tile, and of its memory outside, between a `run` and the next
/// `join`, and which bytes a transfer in flight owns. Workers of one window may share what they
/// only read; a transfer's sources may not be written and its destinations not touched until it has
/// been waited for.
class RaceCheck {
 public:
  using Ranges = std::vector<engine::ByteRange>;

  explicit RaceCheck(std::uint32_t workers) : logs_(workers), outer_logs_(workers) {}

  /// The log that records a worker's accesses of this window.
  engine::AccessLog& log(std::uint32_t worker) { return logs_[worker]; }
  /// The log of its transfers' bytes in memory outside.
  engine::AccessLog& outer_log(std::uint32_t worker) { return outer_logs_[worker]; }
  /// The first conflict of what `worker` has recorded: "data race at address 0x40: it wrote what
  /// worker 2 has read"; nothing if there is none.
  std::optional<std::string> check_worker(std::uint32_t worker);
  /// All workers have been joined.
  void end_window();

  /// A transfer takes `sources` and fills `destinations` until end_transfer(). Returns a conflict
  /// with the workers that run or with another transfer.
  std::optional<std::string> begin_transfer(Address list, const Ranges& sources,
                                            const Ranges& destinations);
  void end_transfer(Address list);
  /// Returns how often the list was started before, and counts it.
  std::uint64_t count_start(Address list) { return starts_[list.count()]++; }
  [[nodiscard]] bool in_flight() const { return !transfers_.empty(); }

  /// Where the supervisor's accesses are recorded while a transfer is in flight.
  engine::AccessLog& supervisor_log() { return supervisor_; }
  /// Checks what the supervisor has recorded as check_worker() does, then forgets it.
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
