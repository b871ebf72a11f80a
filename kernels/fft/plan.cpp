#include "kernels/fft/plan.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

#include <fmt/ranges.h>

#include "kernels/fft/costs.h"
#include "kernels/sample.h"
#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/config/writers.h"

namespace tessera::fft {

namespace {

using Numbers = std::vector<std::uint32_t>;

constexpr std::size_t kFinalists = 6;
constexpr std::uint32_t kMostFirstBits = 3;  // that a phase's first pass transforms
constexpr std::uint32_t kMostDigits = 4;     // of one dimension
constexpr std::uint32_t kMostDigitsOf2 = 2;  // of each of two

std::uint64_t product(const Numbers& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{1}, std::multiplies<>());
}

/// Calls take(digits) for every way to write 2^bits as a product of up to `most` powers of two
/// above 1.
void for_digits(std::uint32_t bits, std::uint32_t most, Numbers& digits,
                const std::function<void()>& take) {
  if (bits == 0) return take();
  if (most == 0) return;
  for (std::uint32_t first = 1; first <= bits; ++first) {
    digits.push_back(1U << first);
    for_digits(bits - first, most - 1, digits, take);
    digits.pop_back();
  }
}

std::uint32_t bits_of(std::uint32_t length) {
  return static_cast<std::uint32_t>(std::countr_zero(length));
}

/// The tiles that an axis may have: as many as the digits on both of its sides have parts. A batch
/// is dealt and stays.
std::uint32_t most_parts(const Numbers& lengths, std::size_t axis, const Problem& problem) {
  if (axis < problem.first_phase()) return lengths[axis] / kUnitPoints;
  const bool to_last = axis + 2 == lengths.size();
  return std::min(lengths[axis] / kUnitPoints, lengths[axis + 1] / (to_last ? kUnitPoints : 1));
}

/// Radices of a phase: 2, 4 or 8 at first, then as many 4 as there are, and a 2 that is left behind
/// them; or 2 alone.
std::vector<Numbers> radices_of(std::uint32_t length) {
  const std::uint32_t bits = bits_of(length);
  std::vector<Numbers> all{Numbers(bits, 2)};
  for (std::uint32_t first = 1; first <= std::min(bits, kMostFirstBits); ++first) {
    Numbers radices{1U << first};
    radices.insert(radices.end(), (bits - first) / 2, 4);
    if ((bits - first) % 2 == 1) radices.push_back(2);
    all.push_back(std::move(radices));
  }
  return all;
}

class Search {
 public:
  Search(const Problem& problem, MachineCosts& costs)
      : problem_(problem), machine_(costs.machine()), machine_costs_(costs), costs_(costs) {}

  Candidate run() {
    const bool flat = problem_.rows == 1;
    const std::uint32_t most = flat ? kMostDigits : kMostDigitsOf2;
    Numbers rows;
    if (problem_.batch > 1) rows.push_back(problem_.batch);
    for_digits(bits_of(problem_.rows), most, rows, [&] {
      Numbers lengths = rows;
      for_digits(bits_of(problem_.points), most, lengths, [&] { try_lengths(lengths); });
    });
    return best();
  }

 private:
  void try_lengths(const Numbers& lengths) {
    if (lengths.size() == 1 && lengths[0] > 2) return;  // half of its lanes would be idle
    Numbers parts;
    try_parts(lengths, parts, machine_.tiles);
  }

  /// Along each axis as many tiles as leave the fullest less than fewer do; along the last all that
  /// are left.
  void try_parts(const Numbers& lengths, Numbers& parts, std::uint32_t tiles) {
    if (parts.size() + 1 >= lengths.size()) return try_plan({lengths, parts, {}});
    const std::uint32_t most = std::min(most_parts(lengths, parts.size(), problem_), tiles);
    const bool last = parts.size() + 2 == lengths.size();
    for (std::uint32_t p = last ? most : 1; p <= most; ++p) {
      const std::uint32_t all = parts.size() < problem_.first_phase()
                                    ? lengths[0] / kUnitPoints
                                    : std::max(lengths[parts.size()], lengths[parts.size() + 1]);
      if (!last && p > 1 && ceil_div(all, p) == ceil_div(all, p - 1)) continue;
      parts.push_back(p);
      try_parts(lengths, parts, tiles / p);
      parts.pop_back();
    }
  }

  /// Work of tile 0: its points, once for each bit that is transformed. A plan of much more than
  /// the least is not worth asking for its cost.
  [[nodiscard]] bool take(const Digits& digits) {
    std::uint64_t work = 0;
    for (std::uint32_t phase = digits.first_phase(); phase < digits.phases(); ++phase)
      work += digits.held(0, phase) * (bits_of(digits.length(phase)) + 1);
    if (work > least_work_ + least_work_ / 4) return false;
    least_work_ = std::min(least_work_, work);
    return true;
  }

  void try_plan(Plan plan) {
    if (!take(Digits(problem_, plan))) return;
    for (std::uint32_t phase = problem_.first_phase(); phase < plan.lengths.size(); ++phase) {
      const Numbers& radices = best_radices(plan, phase);
      plan.radices.insert(plan.radices.end(), radices.begin(), radices.end());
    }
    const Digits digits(problem_, plan);
    std::uint64_t points = digits.most_held(0);
    if (points * kPointBytes * 2 > capacity() && least_points_ <= points) return;
    least_points_ = std::min(least_points_, points);
    const std::uint64_t cycles = costs_.estimate(digits);
    const auto after = std::upper_bound(
        estimates_.begin(), estimates_.end(), cycles,
        [](std::uint64_t value, const auto& estimate) { return value < estimate.first; });
    estimates_.insert(after, {cycles, std::move(plan)});
    if (estimates_.size() > kKept) estimates_.pop_back();
  }

  const Numbers& best_radices(const Plan& plan, std::uint32_t phase) {
    // Columns do not depend on radices; any will do to ask for them.
    const Digits digits(problem_, plan);
    const std::uint32_t length = plan.lengths[phase];
    const std::uint64_t columns = digits.columns(0, phase);
    const auto [entry, is_new] = radices_.try_emplace({length, columns});
    if (!is_new) return entry->second;
    std::uint64_t least = ~std::uint64_t{0};
    for (const Numbers& radices : radices_of(length)) {
      const std::uint64_t cycles = costs_.passes(length, columns, radices);
      if (cycles >= least) continue;
      least = cycles;
      entry->second = radices;
    }
    return entry->second;
  }

  /// The best of those that fit by what their samples take.
  Candidate best() {
    std::optional<Candidate> best;
    std::size_t fitting = 0;
    for (const auto& [cycles, plan] : estimates_) {
      if (fitting == kFinalists) break;
      Digits digits(problem_, plan);
      const Numbers unit_parts = costs_.unit_parts(digits);
      const kernels::Sample sample = build_sample(digits, unit_parts, machine_);
      const program::CategoryBytes need = kernels::sample_memory(sample, machine_.tile);
      if (program::total(need) > capacity()) {
        if (!closest_ || program::total(need) < program::total(closest_need_)) {
          closest_ = plan;
          closest_need_ = need;
        }
        continue;
      }
      ++fitting;
      const Prediction prediction = kernels::predict_sample(sample, machine_costs_);
      if (!best || prediction.cycles < best->prediction.cycles)
        best = {plan, prediction, unit_parts};
    }
    if (!best) fail();
    return *best;
  }

  [[nodiscard]] std::uint64_t capacity() const {
    return std::uint64_t{machine_.tile.sram_kib} * 1024;
  }

  [[noreturn]] void fail() const {
    throw UserError(program::overflow_message(
        fmt::format("no plan of fft for {}rows={} points={} fits {}; of the closest, {}",
                    problem_.batch > 1 ? fmt::format("batch={} ", problem_.batch) : "",
                    problem_.rows, problem_.points, counted(machine_.tiles, "tile"),
                    config::resolved(*closest_).dump()),
        {&closest_need_, 1}, machine_));
  }

  static constexpr std::size_t kKept = 64;

  const Problem& problem_;
  const MachineConfig& machine_;
  MachineCosts& machine_costs_;
  Costs costs_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Numbers> radices_;
  std::vector<std::pair<std::uint64_t, Plan>> estimates_;  ///< least cycles first
  std::uint64_t least_points_ = ~std::uint64_t{0};
  std::uint64_t least_work_ = ~std::uint64_t{0} / 2;
  std::optional<Plan> closest_;  ///< of those that do not fit
  program::CategoryBytes closest_need_{};
};

template <class Found>
void require(bool holds, const char* key, const Found& found, const std::string& allowed) {
  if (holds) return;
  throw KeyError(fmt::format("workload.plan.{}", key),
                 fmt::format("found {}, allowed {}", found, allowed));
}

/// Whether the first of `lengths` are the batch, if there is one, the next a dimension of this many
/// points, and the others the other.
bool divides(const Numbers& lengths, const Problem& problem) {
  std::uint64_t rows = 1;
  std::size_t at = problem.first_phase();
  if (at > 0 && lengths[0] != problem.batch) return false;
  while (at < lengths.size() && rows < problem.rows) rows *= lengths[at++];
  return rows == problem.rows && product(lengths) == problem.total();
}

void check_radices(const Plan& plan, std::uint32_t first) {
  const std::span lengths = std::span(plan.lengths).subspan(first);
  const auto check = [&](bool holds) {
    require(
        holds, "radices", plan.radices,
        fmt::format("2 and 4, and 8 as a phase's first, whose products are {} in turn", lengths));
  };
  std::size_t at = 0;
  for (const std::uint32_t length : lengths) {
    std::uint64_t done = 1;
    while (done < length && at < plan.radices.size()) {
      const std::uint32_t radix = plan.radices[at++];
      check(radix == 2 || radix == 4 || (radix == 8 && done == 1));
      done *= radix;
    }
    check(done == length);
  }
  check(at == plan.radices.size());
}

}  // namespace

void describe(config::Fields& fields, Plan& plan) {
  fields.field({"lengths",
                "of the transforms of each phase, powers of two; the number of arrays of a batch "
                "before them"},
               plan.lengths, {2, 1U << 24});
  fields.field({"parts",
                "tiles along each of the exchanges between phases; those among which the arrays of "
                "a batch are dealt before them"},
               plan.parts, {1, 1U << 24});
  fields.field({"radices", "of all passes, phase after phase: 2 or 4, the first of a phase also 8"},
               plan.radices, {2, 8});
}

Candidate choose_plan(const Problem& problem, MachineCosts& costs) {
  return Search(problem, costs).run();
}

Candidate pinned_plan(const Plan& plan, const Problem& problem, MachineCosts& costs) {
  const MachineConfig& machine = costs.machine();
  const std::uint32_t first = problem.first_phase();
  const bool powers = plan.lengths.size() > first &&
                      std::all_of(plan.lengths.begin() + first, plan.lengths.end(),
                                  [](std::uint32_t n) { return std::has_single_bit(n); });
  require(powers && divides(plan.lengths, problem), "lengths", plan.lengths,
          fmt::format("{}powers of two, the product of the first of them {} (workload.rows), of "
                      "all others {} (workload.points)",
                      first > 0 ? fmt::format("{} (workload.batch), then ", problem.batch) : "",
                      problem.rows, problem.points));
  require(plan.parts.size() + 1 == plan.lengths.size(), "parts", plan.parts,
          counted(plan.lengths.size() - 1, "number"));
  for (std::size_t axis = 0; axis < plan.parts.size(); ++axis)
    require(plan.parts[axis] <= most_parts(plan.lengths, axis, problem), "parts", plan.parts,
            fmt::format("1 to {} in place {} (pairs of values of the digits)",
                        most_parts(plan.lengths, axis, problem), axis));
  require(product(plan.parts) <= machine.tiles, "parts", plan.parts,
          fmt::format("a product of at most {}", counted(machine.tiles, "tile")));
  check_radices(plan, first);
  const Digits digits(problem, plan);
  Costs measured(costs);
  const Numbers unit_parts = measured.unit_parts(digits);
  const kernels::Sample sample = build_sample(digits, unit_parts, machine);
  return {plan, kernels::predict_sample(sample, costs), unit_parts};
}

}  // namespace tessera::fft
