#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "models/fabric/descriptor.h"
#include "models/fabric/fabric.h"
#include "models/fabric/floorplan.h"

namespace tessera::fabric {

/// Moves the bytes that descriptor lists ask for: matches each receive with the send of its source
/// tile that has the same start, lane and length. No timing.
class Mover {
 public:
  /// Sums over one participant's descriptors.
  struct Tally {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t byte_micrometres = 0;  ///< as Delivery::byte_micrometres
  };

  explicit Mover(const Floorplan& floorplan) : floorplan_(floorplan) {}

  /// From now on checks each exchange once and moves nothing; its lists must not change.
  void leave_values() { values_ = false; }
  /// Makes Fabric::advance's checks, then copies. Returns one tally per participant.
  const std::vector<Tally>& move(std::span<const Participant> participants, HostThreads& threads);

 private:
  struct Send {
    std::uint32_t start;
    std::uint32_t length;
    const std::byte* from;
  };

  /// An exchange already checked after leave_values().
  struct Checked {
    std::vector<std::pair<TileId, Address>> lists;  ///< its participants'
    std::vector<Tally> tallies;
  };

  /// The smallest range that holds all bytes a participant receives.
  struct Written {
    std::uint64_t low;
    std::uint64_t high;
  };

  void check_and_copy(HostThreads& threads);
  void index_tiles();
  void check_headers() const;
  void read_sends(std::size_t number);
  Written read_receives(std::size_t number);
  void stage(std::size_t number, const Written& written);
  void copy_receives(std::size_t number);
  void reach(const Send& send, std::uint32_t micrometres);
  void add_up_ways(std::size_t number);
  [[nodiscard]] const Send* find(const ReceiveDescriptor& receive) const;
  [[nodiscard]] std::span<Send> sends_of(std::size_t number);

  static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};

  Floorplan floorplan_;
  bool values_ = true;
  std::span<const Participant> participants_;
  std::vector<ListView> lists_;
  std::vector<std::uint32_t> number_;      ///< participant by tile, kAbsent if none
  std::vector<std::uint32_t> first_send_;  ///< by participant, and the total
  std::vector<Send> sends_;
  std::vector<std::uint32_t> reach_;            ///< by send: micrometres to its farthest receiver
  std::vector<std::vector<std::byte>> staged_;  ///< copies of overwritten sources
  std::vector<Tally> tallies_;
  std::map<std::uint32_t, Checked> checked_;  ///< by exchange
};

}  // namespace tessera::fabric
