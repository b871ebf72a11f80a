#include "kernels/fft/digits.h"

#include <algorithm>
#include <numeric>

namespace tessera::fft {

namespace {

/// The values of part `part` of a digit that is split by pairs into `parts`.
Interval pairs_of(std::uint32_t length, std::uint32_t parts, std::uint32_t part) {
  const Interval pairs = EvenSplit{length / kUnitPoints, parts}.part(part);
  return {pairs.begin * kUnitPoints, pairs.end * kUnitPoints};
}

}  // namespace

Digits::Digits(const Problem& problem, const Plan& plan) : problem_(problem), plan_(plan) {
  row_end_ = first_phase();
  std::uint64_t rows = 1;
  while (rows < problem.rows) rows *= plan.lengths[row_end_++];
}

std::uint32_t Digits::tiles() const {
  return std::accumulate(plan_.parts.begin(), plan_.parts.end(), 1U, std::multiplies<>());
}

std::uint32_t Digits::coordinate(std::uint32_t tile, std::uint32_t axis) const {
  for (std::uint32_t a = 0; a < axis; ++a) tile /= plan_.parts[a];
  return tile % plan_.parts[axis];
}

std::uint32_t Digits::neighbour(std::uint32_t tile, std::uint32_t axis, std::uint32_t to) const {
  std::uint32_t step = 1;
  for (std::uint32_t a = 0; a < axis; ++a) step *= plan_.parts[a];
  return tile - coordinate(tile, axis) * step + to * step;
}

std::vector<std::uint32_t> Digits::order(std::uint32_t phase) const {
  std::vector<std::uint32_t> digits(phases());
  for (std::uint32_t d = 0; d < phases(); ++d) digits[d] = (phase + d) % phases();
  return digits;
}

/// Digits not yet transformed are split along axis digit - 1, transformed ones along axis digit.
Interval Digits::values(std::uint32_t tile, std::uint32_t phase, std::uint32_t digit) const {
  if (digit == phase) return {0, length(digit)};
  if (digit < phase) return part(digit, coordinate(tile, digit));
  const std::uint32_t parts = plan_.parts[digit - 1];
  const std::uint32_t own = coordinate(tile, digit - 1);
  if (digit + 1 == phases()) return pairs_of(length(digit), parts, own);
  return EvenSplit{length(digit), parts}.part(own);
}

Interval Digits::part(std::uint32_t phase, std::uint32_t number) const {
  return pairs_of(length(phase), plan_.parts[phase], number);
}

std::uint64_t Digits::columns(std::uint32_t tile, std::uint32_t phase) const {
  if (phases() == 1) return kUnitPoints;
  std::uint64_t columns = 1;
  for (std::uint32_t d = 0; d < phases(); ++d)
    if (d != phase) columns *= values(tile, phase, d).size();
  return columns;
}

std::uint64_t Digits::most_held(std::uint32_t tile) const {
  std::uint64_t most = 0;
  for (std::uint32_t phase = first_phase(); phase < phases(); ++phase)
    most = std::max(most, held(tile, phase));
  return most;
}

Interval Digits::dimension(std::uint32_t digit) const {
  if (digit < first_phase()) return {0, first_phase()};
  if (digit < row_end_) return {first_phase(), row_end_};
  return {row_end_, phases()};
}

bool Digits::turns_after(std::uint32_t phase) const { return phase + 1 < dimension(phase).end; }

std::uint64_t Digits::turn_whole(std::uint32_t phase) const {
  std::uint64_t whole = 1;
  for (std::uint64_t d = phase; d < dimension(phase).end; ++d) whole *= plan_.lengths[d];
  return whole;
}

/// Digit `phase` times the number formed by the later digits of its dimension.
std::uint64_t Digits::turn(std::uint32_t phase, std::span<const std::uint32_t> values) const {
  std::uint64_t behind = 0;
  for (std::uint64_t d = phase + 1; d < dimension(phase).end; ++d)
    behind = behind * plan_.lengths[d] + values[d];
  return behind * values[phase];
}

std::uint64_t Digits::input(std::span<const std::uint32_t> values) const {
  std::uint64_t number = 0;
  for (std::uint32_t d = 0; d < phases(); ++d) number = number * plan_.lengths[d] + values[d];
  return number;
}

/// Reverses the digits of each dimension.
std::uint64_t Digits::output(std::span<const std::uint32_t> values) const {
  std::uint64_t number = 0;
  for (std::uint32_t first = 0; first < phases();) {
    const Interval of = dimension(first);
    for (std::uint64_t d = of.end; d-- > of.begin;) number = number * plan_.lengths[d] + values[d];
    first = static_cast<std::uint32_t>(of.end);
  }
  return number;
}

Digits::Run Digits::result_run(std::uint64_t number) const {
  std::vector<std::uint32_t> point(phases());
  for (std::uint64_t end = phases(); end > 0;) {
    const Interval of = dimension(word(end - 1));
    for (std::uint64_t d = of.begin; d < of.end; ++d) {
      point[d] = word(number % plan_.lengths[d]);
      number /= plan_.lengths[d];
    }
    end = of.begin;
  }
  const std::uint32_t last = phases() - 1;
  Run run{0, 0, 0};
  for (std::uint32_t axis = last; axis-- > 0;) {
    const EvenSplit pairs{length(axis) / kUnitPoints, plan_.parts[axis]};
    run.tile = run.tile * plan_.parts[axis] + word(pairs.holder(point[axis] / kUnitPoints));
  }
  std::vector<std::uint32_t> digits = order(last);
  digits.erase(std::find(digits.begin(), digits.end(), fastest_output()));
  digits.push_back(fastest_output());
  for (const std::uint32_t d : digits) {
    const Interval own = values(run.tile, last, d);
    run.at = run.at * own.size() + point[d] - own.begin;
    run.points = own.end - point[d];
  }
  return run;
}

}  // namespace tessera::fft
