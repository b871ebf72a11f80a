#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/plan/aliases.h"
#include "sim/plan/description.h"

namespace tessera::plan {

/// The exchanges in the order in which the program has them, each as often as it stands there.
std::vector<const Exchange*> exchanges_of(const Sequence& steps);

/// How many streams each tile sends in each exchange, if none is cut or sent again: tiles that pull
/// the same bytes share one. Asks all tiles what they pull.
class SentStreams {
 public:
  explicit SentStreams(const Description& description);

  /// The streams of one array that a tile sends.
  struct Sent {
    Tile from;
    BufferId array;
    std::uint64_t streams;
  };
  /// By array, of those that the tile sends from.
  [[nodiscard]] std::vector<Sent> of(const Exchange& exchange, Tile tile) const;
  /// The tile whose lists take most bytes together.
  [[nodiscard]] Tile longest_lists() const;

 private:
  std::map<const Exchange*, std::vector<Sent>> sent_;  ///< by tile and array
  std::vector<std::uint64_t> list_bytes_;              ///< by tile
};

}  // namespace tessera::plan
