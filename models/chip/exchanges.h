#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/fabric/fabric.h"

namespace tessera {

/// Exchanges that have not all their participants yet: gathers the tiles that start each and gives
/// them to the fabric when the last one has. Knows no time of its own.
class Exchanges {
 public:
  /// An exchange whose bytes have moved.
  struct Finished {
    Cycle begin;  ///< when the last participant started
    std::vector<fabric::Participant> participants;
    fabric::Outcome outcome;  ///< one delivery a participant
  };

  explicit Exchanges(std::unique_ptr<fabric::Fabric> fabric) : fabric_(std::move(fabric)) {}

  /// Throws UserError for a broken descriptor list.
  void start(const fabric::Participant& participant);

  /// Moves the bytes of every exchange that is complete, the lowest number first.
  std::vector<Finished> finish(HostThreads& threads);

  /// Transfers received by the tiles of an exchange that finish() has just returned.
  [[nodiscard]] std::vector<trace::Transfer> transfers(const Finished& finished) const {
    return fabric_->transfers(finished.participants);
  }

  /// The exchange that `tile` waits for: "exchange 3, waiting for 2 of 16 participants"; or empty.
  [[nodiscard]] std::string missing(TileId tile) const;

 private:
  struct Gathering {
    std::uint32_t expected = 0;
    std::vector<fabric::Participant> participants;
  };
  std::unique_ptr<fabric::Fabric> fabric_;
  std::map<std::uint32_t, Gathering> gathering_;
  std::vector<std::uint32_t> complete_;
};

}  // namespace tessera
