#include "sim/engine/access_log.h"

#include <algorithm>

namespace tessera::engine {

void ByteSet::add(std::uint32_t address, std::uint32_t bytes) {
  const std::uint32_t end = address + bytes;
  const std::size_t open = std::min(kOpen, ranges_.size());
  for (std::size_t i = 0; i < open; ++i) {
    ByteRange& range = ranges_[ranges_.size() - 1 - i];
    if (address > range.end || end < range.begin) continue;
    if (range.begin <= address && end <= range.end) return;
    grown_ = true;
    range.begin = std::min(range.begin, address);
    range.end = std::max(range.end, end);
    return;
  }
  constexpr std::size_t kFewest = 1024;
  if (ranges_.size() >= std::max(kFewest, 2 * merged_)) merge();
  grown_ = true;
  ranges_.push_back({address, end});
}

void ByteSet::clear() {
  ranges_.clear();
  merged_ = 0;
  grown_ = false;
}

const std::vector<ByteRange>& ByteSet::ranges() {
  if (grown_) merge();
  return ranges_;
}

void ByteSet::merge() {
  std::ranges::sort(ranges_, {}, &ByteRange::begin);
  std::size_t kept = 0;
  for (const ByteRange& range : ranges_) {
    if (kept > 0 && range.begin <= ranges_[kept - 1].end) {
      ranges_[kept - 1].end = std::max(ranges_[kept - 1].end, range.end);
    } else {
      ranges_[kept++] = range;
    }
  }
  ranges_.resize(kept);
  merged_ = kept;
  grown_ = false;
}

}  // namespace tessera::engine
