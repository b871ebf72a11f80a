#include "kernels/fft/passes.h"

#include <algorithm>

#include <fmt/format.h>

namespace tessera::fft {

namespace {

/// How many points stand in one of a digit on a tile during the last phase, and behind it.
struct Around {
  std::uint64_t before = 1;
  std::uint64_t behind = 1;
};

Around around(const Digits& digits, std::uint32_t tile, std::uint32_t digit) {
  const std::uint32_t phase = digits.phases() - 1;
  Around sizes;
  bool reached = false;
  for (const std::uint32_t d : digits.order(phase)) {
    const std::uint64_t size = digits.values(tile, phase, d).size();
    if (d == digit)
      reached = true;
    else
      (reached ? sizes.behind : sizes.before) *= size;
  }
  if (digits.phases() == 1) sizes.behind = kUnitPoints;
  return sizes;
}

/// Runs along `fastest` of the points of `tile` during `phase`, numbered by `number`: that digit
/// lies behind all others, which lie in the order `others`.
template <class Number>
std::vector<ResultRun> runs(const Digits& digits, std::uint32_t tile, std::uint32_t phase,
                            std::vector<std::uint32_t> others, std::uint32_t fastest,
                            const Number& number) {
  others.erase(std::find(others.begin(), others.end(), fastest));
  const Interval run = digits.values(tile, phase, fastest);
  std::vector<Interval> ranges;
  std::vector<std::uint32_t> now(digits.phases());
  std::vector<ResultRun> found;
  if (run.size() == 0) return found;
  now[fastest] = word(run.begin);
  for (const std::uint32_t d : others) {
    ranges.push_back(digits.values(tile, phase, d));
    if (ranges.back().size() == 0) return found;
    now[d] = word(ranges.back().begin);
  }
  for (std::uint64_t at = 0;; at += run.size()) {
    found.push_back({number(now), at, run.size()});
    std::size_t d = others.size();
    while (d > 0 && ++now[others[d - 1]] == ranges[d - 1].end) {
      now[others[d - 1]] = word(ranges[d - 1].begin);
      --d;
    }
    if (d == 0) return found;
  }
}

}  // namespace

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
  const std::uint32_t fastest = digits.fastest_output();
  const Around sizes = around(digits, tile, fastest);
  RowPairs pairs{{}, sizes.behind};
  if (sizes.behind == 1) return pairs;
  const std::uint64_t rows = digits.values(tile, digits.phases() - 1, fastest).size();
  for (std::uint64_t i = 0; i < sizes.before; ++i)
    for (std::uint64_t row = 0; row < rows; row += kUnitPoints)
      pairs.entries.push_back(
          {word((i * rows * sizes.behind + row) * kPointBytes), word(rows * kPointBytes)});
  return pairs;
}

std::vector<ResultRun> result_runs(const Digits& digits, std::uint32_t tile) {
  const std::uint32_t phase = digits.phases() - 1;
  return runs(digits, tile, phase, digits.order(phase), digits.fastest_output(),
              [&](const auto& values) { return digits.output(values); });
}

std::vector<ResultRun> input_runs(const Digits& digits, std::uint32_t tile) {
  return runs(digits, tile, digits.first_phase(), digits.order(0), digits.phases() - 1,
              [&](const auto& values) { return digits.input(values); });
}

}  // namespace tessera::fft
