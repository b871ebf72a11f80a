#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/fabric/descriptor.h"
#include "models/fabric/fabric.h"

namespace tessera::fabric {

/// Moves the bytes that descriptor lists ask for: matches each receive with the send of its source
/// tile that has the same start and length. Knows no time.
class Mover {
 public:
  /// Sums over one participant's descriptors.
  struct Tally {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };

  /// Checks as Fabric::exchange says, then copies. Returns one tally a participant.
  const std::vector<Tally>& move(std::span<const Participant> participants, HostThreads& threads);

 private:
  struct Send {
    std::uint32_t start;
    std::uint32_t length;
    const std::byte* from;
  };

  /// The smallest range that holds all bytes a participant receives.
  struct Written {
    std::uint64_t low;
    std::uint64_t high;
  };

  void index_tiles();
  void check_headers() const;
  void read_sends(std::size_t number);
  Written read_receives(std::size_t number);
  void stage(std::size_t number, const Written& written);
  void copy_receives(std::size_t number) const;
  [[nodiscard]] const Send* find(const ReceiveDescriptor& receive) const;
  [[nodiscard]] std::span<Send> sends_of(std::size_t number);

  static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};

  std::span<const Participant> participants_;
  std::vector<ListView> lists_;
  std::vector<std::uint32_t> number_;      ///< participant by tile, kAbsent if none
  std::vector<std::uint32_t> first_send_;  ///< by participant, and the total
  std::vector<Send> sends_;
  std::vector<std::vector<std::byte>> staged_;  ///< sources that the exchange overwrites
  std::vector<Tally> tallies_;
};

}  // namespace tessera::fabric
