#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <tuple>

#include "sim/program/fingerprint.h"
#include "sim/program/machine_costs.h"

namespace tessera {

/// Costs of samples, by all that decides them: planning anew for fewer tiles asks for most of them
/// again. The tiles differ in their number of contexts alone. For several threads.
class RememberedSamples {
 public:
  /// The cost of `sample` on a tile of so many contexts; `run` is called if it is not known.
  TileCost cost(const program::Program& sample, std::uint32_t contexts,
                const std::function<TileCost()>& run);
  /// Forgets all if there are more than `most`.
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
