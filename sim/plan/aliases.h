#pragma once

#include <map>

#include "sim/plan/description.h"

namespace tessera::plan {

/// Arrays for which a one-tile machine needs no copies: calls only read them (Array::constant),
/// their pulls are contiguous in one other array, and nothing writes that until they are pulled
/// again. Calls get places in that array instead. Empty for several tiles.
class Aliases {
 public:
  explicit Aliases(const Description& description);

  [[nodiscard]] bool contains(BufferId array) const { return of_.contains(array); }
  /// The place whose bytes a call uses for `place`.
  [[nodiscard]] Place operator()(Place place) const;
  /// Removes the pulls whose bytes need not move.
  void drop(Pulls& pulls) const;

 private:
  std::map<BufferId, Place> of_;
};

}  // namespace tessera::plan
