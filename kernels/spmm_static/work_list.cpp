#include "kernels/spmm_static/work_list.h"

#include <algorithm>
#include <cstring>

namespace tessera::spmm_static {

namespace {

struct SegmentEntry {
  std::uint32_t offset;
  std::uint32_t distance;
  std::uint16_t sources;
  std::uint16_t chunks;
  std::uint16_t units;
  std::uint16_t next_run;
};
static_assert(sizeof(SegmentEntry) == kSegmentBytes);

}  // namespace

std::uint64_t place_step(const Partition& partition, const Part& part) {
  return std::uint64_t{part.width()} * partition.shape.block * partition.shape.bytes() / 8;
}

bool places_fit(const Partition& partition) {
  for (const Part& part : partition.parts) {
    const std::uint64_t step = place_step(partition, part);
    for (const Share& share : partition.layer(part).shares) {
      if ((share.columns.size() - 1) * step > 0xffff) return false;
    }
  }
  return true;
}

std::vector<std::uint16_t> row_list(const Partition& partition, const Part& part,
                                    const Share& share) {
  const std::uint64_t step = place_step(partition, part);
  const unsigned less = partition.shape.block == 1 ? 0 : 1;
  std::vector<std::uint16_t> list;
  list.reserve(share.rows.size() + share.blocks());
  for (const RowRun& run : share.rows) {
    list.push_back(static_cast<std::uint16_t>(run.last - run.first - less));
    for (std::uint64_t e = run.first; e < run.last; ++e) {
      const auto found =
          std::lower_bound(share.columns.begin(), share.columns.end(), partition.deal.column[e]);
      const auto place = static_cast<std::uint64_t>(found - share.columns.begin());
      list.push_back(static_cast<std::uint16_t>(place * step));
    }
  }
  return list;
}

std::vector<std::byte> segment_list(const std::vector<SegmentPart>& parts) {
  std::vector<std::byte> bytes(parts.size() * kSegmentBytes);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const SegmentPart& part = parts[i];
    const SegmentEntry entry{word(part.offset),
                             word(part.distance),
                             static_cast<std::uint16_t>(part.sources),
                             static_cast<std::uint16_t>(part.chunks),
                             static_cast<std::uint16_t>(part.units),
                             static_cast<std::uint16_t>(part.next_run / 8)};
    std::memcpy(bytes.data() + i * kSegmentBytes, &entry, sizeof entry);
  }
  return bytes;
}

}  // namespace tessera::spmm_static
