#include "kernels/fft/passes.h"

#include <fmt/format.h>

namespace tessera::fft {

std::string Pass::codelet() const {
  return fmt::format("fft_radix{}{}", radix, first() ? "_first" : "");
}

std::vector<Pass> passes_of(const Plan& plan, std::uint32_t phase, std::uint32_t first) {
  std::size_t at = 0;
  for (std::uint32_t p = first;; ++p) {
    std::vector<Pass> passes;
    for (std::uint32_t left = plan.lengths[p]; left > 1; ++at) {
      left /= plan.radices[at];
      passes.push_back({plan.lengths[p], plan.radices[at], left});
    }
    if (p == phase) return passes;
  }
}

RowPairs pairs_for_swap(const Digits& digits, std::uint32_t tile, std::uint32_t phase) {
  RowPairs pairs{{}, digits.columns(tile, phase)};
  for (std::uint32_t v = 0; v < digits.plan().parts[phase]; ++v) {
    const Interval part = digits.part(phase, v);
    for (std::uint64_t row = part.begin; row < part.end; row += kUnitPoints)
      pairs.entries.push_back({word((pairs.columns * part.begin + row - part.begin) * kPointBytes),
                               word(part.size() * kPointBytes)});
  }
  return pairs;
}

RowPairs pairs_for_batch(const Digits& digits, std::uint32_t tile) {
  const std::uint32_t phase = digits.first_phase();
  const std::uint64_t arrays = digits.values(tile, phase, 0).size();
  RowPairs pairs{{}, digits.held(tile, phase) / arrays};
  for (std::uint64_t array = 0; array < arrays; array += kUnitPoints)
    pairs.entries.push_back({word(array * kPointBytes), word(arrays * kPointBytes)});
  return pairs;
}

RowPairs pairs_for_result(const Digits& digits, std::uint32_t tile) {
  const std::uint32_t last = digits.phases() - 1;
  std::uint64_t before = 1, rows = 0, behind = 1;
  for (const std::uint32_t d : digits.order(last)) {
    const std::uint64_t size = digits.values(tile, last, d).size();
    if (d == digits.fastest_output())
      rows = size;
    else
      (rows > 0 ? behind : before) *= size;
  }
  if (digits.phases() == 1) behind = kUnitPoints;
  RowPairs pairs{{}, behind};
  if (behind == 1) return pairs;
  for (std::uint64_t i = 0; i < before; ++i)
    for (std::uint64_t row = 0; row < rows; row += kUnitPoints)
      pairs.entries.push_back(
          {word((i * rows * behind + row) * kPointBytes), word(rows * kPointBytes)});
  return pairs;
}

}  // namespace tessera::fft
