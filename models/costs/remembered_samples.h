#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <tuple>

#include "sim/program/fingerprint.h"
#include "sim/program/machine_costs.h"

namespace tessera {

/// Cached costs of samples: planning again for fewer tiles repeats most queries. The tiles differ
/// only in their number of contexts. Thread-safe.
class RememberedSamples {
 public:
  /// The cost of `sample` on a tile with `contexts` contexts; calls `run` if it is not cached.
  TileCost cost(const program::Program& sample, std::uint32_t contexts,
                const std::function<TileCost()>& run);
  /// Clears the cache if it holds more than `most`.
  void keep_at_most(std::size_t most) {
    const std::lock_guard lock(mutex_);
    if (costs_.size() > most) costs_.clear();
  }

 private:
  /// Fingerprints of the program and of its buffers' contents; contexts.
  using Key = std::tuple<program::Fingerprint, program::Fingerprint, std::uint32_t>;
  std::mutex mutex_;
  std::map<Key, TileCost> costs_;
};

}  // namespace tessera
