#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <tuple>

#include "sim/program/fingerprint.h"
#include "sim/program/machine_costs.h"

namespace tessera {

/// What samples cost, by all that decides it: planning anew for fewer tiles asks for most of them
/// again. Of tiles that differ in their number of contexts alone.
class RememberedSamples {
 public:
  /// The cost of `sample` on a tile of so many contexts; `run` is called if it is not known.
  TileCost cost(const program::Program& sample, std::uint32_t contexts,
                const std::function<TileCost()>& run);

 private:
  /// Of the program, of what its buffers hold; contexts.
  using Key = std::tuple<program::Fingerprint, program::Fingerprint, std::uint32_t>;
  std::map<Key, TileCost> costs_;
};

}  // namespace tessera
