#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/types.h"

namespace tessera::trace {

/// A number over time. Changes may be added in any order; samples are returned in time order.
class StepCounter {
 public:
  struct Sample {
    Cycle at;
    std::int64_t value;  ///< valid from `at` on
  };
  static constexpr std::size_t kMostSamples = 16;

  void change(Cycle at, std::int64_t by) {
    if (!changes_.empty() && changes_.back().at == at) {
      changes_.back().by += by;
    } else {
      changes_.push_back({at, by});
    }
  }
  /// Takes all changes before `until`, the last chance for them, as at most kMostSamples samples:
  /// evenly spread if there are more different times. Each value is exact.
  const std::vector<Sample>& take(Cycle until);

 private:
  struct Change {
    Cycle at;
    std::int64_t by;
  };
  bool gather_exactly(std::size_t count);
  void gather_evenly(std::size_t count);

  std::vector<Change> changes_;
  std::vector<Sample> samples_;  ///< while gathering: sums of changes
  std::int64_t value_ = 0;
};

}  // namespace tessera::trace
