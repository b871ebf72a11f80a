#pragma once

#include <map>

#include "sim/plan/description.h"

namespace tessera::plan {

/// Arrays that a tile alone on its machine need not copy to: calls only read them
/// (Array::constant), all that they pull lies side by side in one other array, and nothing writes
/// that until they are pulled again. Calls are given its places. None on machines of several tiles.
class Aliases {
 public:
  explicit Aliases(const Description& description);

  [[nodiscard]] bool contains(BufferId array) const { return of_.contains(array); }
  /// Where the bytes at `place` lie.
  [[nodiscard]] Place operator()(Place place) const;
  /// Leaves the pulls whose bytes have to move.
  void drop(Pulls& pulls) const;

 private:
  std::map<BufferId, Place> of_;
};

}  // namespace tessera::plan
