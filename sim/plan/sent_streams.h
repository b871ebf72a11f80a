#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/plan/aliases.h"
#include "sim/plan/description.h"

namespace tessera::plan {

/// The exchanges in program order, with repetitions.
std::vector<const Exchange*> exchanges_of(const Sequence& steps);

/// Number of streams that each tile sends in each exchange, if each is uncut and sent once: tiles
/// that pull the same bytes share one. Evaluates all tiles' pulls.
class SentStreams {
 public:
  explicit SentStreams(const Description& description);

  /// The streams of one array that a tile sends.
  struct Sent {
    Tile from;
    BufferId array;
    std::uint64_t streams;
  };
  /// The tile's sent streams, by array.
  [[nodiscard]] std::vector<Sent> of(const Exchange& exchange, Tile tile) const;
  /// The tile with the largest total list bytes.
  [[nodiscard]] Tile longest_lists() const;

 private:
  std::map<const Exchange*, std::vector<Sent>> sent_;  ///< by tile and array
  std::vector<std::uint64_t> list_bytes_;              ///< by tile
};

}  // namespace tessera::plan
