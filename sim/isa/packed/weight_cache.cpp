#include "sim/isa/packed/weight_cache.h"

#include <bit>

#include "sim/isa/float/soft.h"
#include "sim/isa/packed/packed.h"

namespace tessera::packed {

void WeightCache::fill(AmpKind kind, const std::uint64_t* words) {
  kind_ = kind;
  if (kind == AmpKind::s) {
    for (unsigned i = 0; i < 128; ++i) {
      rows_[i] = std::bit_cast<float>(fp::canonical<fp::F32>(lane_s(words[i / 2], i % 2)));
    }
    return;
  }
  const unsigned weights = kind == AmpKind::h ? 256 : 128;
  for (unsigned i = 0; i < weights; i += 4) {
    // Canonical NaNs first: widening a signalling one would set NV.
    const std::uint64_t quiet = portable::each_h(fp::canonical<fp::F16>, words[i / 4]);
    const std::uint64_t low = unpkl_2s(quiet);
    const std::uint64_t high = unpkh_2s(quiet);
    rows_[i] = std::bit_cast<float>(lane_s(low, 0));
    rows_[i + 1] = std::bit_cast<float>(lane_s(low, 1));
    rows_[i + 2] = std::bit_cast<float>(lane_s(high, 0));
    rows_[i + 3] = std::bit_cast<float>(lane_s(high, 1));
  }
}

}  // namespace tessera::packed
