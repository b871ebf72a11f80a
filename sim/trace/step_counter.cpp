#include "sim/trace/step_counter.h"

#include <algorithm>

namespace tessera::trace {

const std::vector<StepCounter::Sample>& StepCounter::take(Cycle until) {
  const auto later = std::partition(changes_.begin(), changes_.end(),
                                    [until](const Change& one) { return one.at < until; });
  const auto count = static_cast<std::size_t>(later - changes_.begin());
  if (!gather_exactly(count)) gather_evenly(count);
  changes_.erase(changes_.begin(), later);
  std::ranges::sort(samples_, {}, &Sample::at);
  for (Sample& sample : samples_) sample.value = value_ += sample.value;
  return samples_;
}

/// False if the changes have too many different times.
bool StepCounter::gather_exactly(std::size_t count) {
  samples_.clear();
  std::size_t last = 0;  // usually the next change is at the same time
  for (std::size_t i = 0; i < count; ++i) {
    const Change& change = changes_[i];
    if (last == samples_.size() || samples_[last].at != change.at) {
      last = 0;
      while (last < samples_.size() && samples_[last].at != change.at) ++last;
      if (last == kMostSamples) return false;
      if (last == samples_.size()) samples_.push_back({change.at, 0});
    }
    samples_[last].value += change.by;
  }
  return true;
}

void StepCounter::gather_evenly(std::size_t count) {
  const auto [first, last] =
      std::minmax_element(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(count),
                          [](const Change& a, const Change& b) { return a.at < b.at; });
  const Cycle begin = first->at;
  const std::uint64_t length = (last->at - begin).count();
  constexpr std::uint64_t kParts = kMostSamples - 1;
  samples_.clear();
  for (std::uint64_t part = 0; part <= kParts; ++part)
    samples_.push_back(
        {begin + Cycle(length / kParts * part + length % kParts * part / kParts), 0});
  // Adds each change to the first sample at or after it.
  for (std::size_t i = 0; i < count; ++i) {
    const auto part = ceil_div((changes_[i].at - begin).count() * kParts, length);
    samples_[part].value += changes_[i].by;
  }
}

}  // namespace tessera::trace
