#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <numeric>

#include <fmt/ranges.h>

#include "kernels/fft/fft.h"
#include "kernels/pinned.h"
#include "kernels/planned.h"
#include "sim/base/counted.h"
#include "sim/base/errors.h"

namespace tessera::fft {

namespace {

using kernels::require_pinned;
using Numbers = std::vector<std::uint32_t>;

constexpr std::uint32_t kMostFirstBits = 3;  // bits that a phase's first pass transforms at most
constexpr std::uint32_t kMostDigits = 4;     // most digits of a single dimension
constexpr std::uint32_t kMostDigitsOf2 = 2;  // most digits of each of two dimensions

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

/// The most tiles of an axis: the digits on both its sides must split into that many parts. A
/// batch's digit is split once and not exchanged.
std::uint32_t most_parts(const Numbers& lengths, std::size_t axis, const Problem& problem) {
  if (axis < problem.first_phase()) return lengths[axis] / kUnitPoints;
  const bool to_last = axis + 2 == lengths.size();
  return std::min(lengths[axis] / kUnitPoints, lengths[axis + 1] / (to_last ? kUnitPoints : 1));
}

/// The candidate radices of a phase: all 2; or first 2, 4 or 8, then 4s, then a 2 if a bit is left.
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

/// All plans of a problem, with lower bounds.
class Candidates {
 public:
  Candidates(const Subject& subject, kernels::Plans<Plan>& plans)
      : problem_(subject.problem()),
        division_(*subject.division),
        functions_(subject.code, plans.shell(), plans.machine().tile.contexts),
        plans_(plans) {}

  void add_all() {
    const std::uint32_t most = problem_.rows == 1 ? kMostDigits : kMostDigitsOf2;
    Numbers rows;
    if (problem_.batch > 1) rows.push_back(problem_.batch);
    for_digits(bits_of(problem_.rows), most, rows, [&] {
      Numbers lengths = rows;
      for_digits(bits_of(problem_.points), most, lengths, [&] { add_lengths(lengths); });
    });
    for (Plan& plan : found_) {
      const std::uint64_t bound = complete(plan);
      plans_.add(plan, bound);
    }
  }

 private:
  void add_lengths(const Numbers& lengths) {
    if (lengths.size() == 1 && lengths[0] > 2) return;  // half of its lanes would be idle
    Numbers parts;
    add_parts(lengths, parts, plans_.machine().tiles);
  }

  /// Tiles along each axis: only counts that reduce the fullest tile's share; along the last axis
  /// all that remain.
  void add_parts(const Numbers& lengths, Numbers& parts, std::uint32_t tiles) {
    if (parts.size() + 1 >= lengths.size()) return add({lengths, parts, {}});
    const std::uint32_t most = std::min(most_parts(lengths, parts.size(), problem_), tiles);
    const bool last = parts.size() + 2 == lengths.size();
    for (std::uint32_t p = last ? most : 1; p <= most; ++p) {
      const std::uint32_t all = parts.size() < problem_.first_phase()
                                    ? lengths[0] / kUnitPoints
                                    : std::max(lengths[parts.size()], lengths[parts.size() + 1]);
      if (!last && p > 1 && ceil_div(all, p) == ceil_div(all, p - 1)) continue;
      parts.push_back(p);
      add_parts(lengths, parts, tiles / p);
      parts.pop_back();
    }
  }

  /// Estimates work as tile 0's points x (bits + 1), summed over phases. Drops a plan that exceeds
  /// the least work among plans with no more phases by over a quarter.
  void add(Plan plan) {
    const Digits digits(problem_, plan);
    std::uint64_t work = 0;
    for (std::uint32_t phase = digits.first_phase(); phase < digits.phases(); ++phase)
      work += digits.held(0, phase) * (bits_of(digits.length(phase)) + 1);
    std::uint64_t least = work;
    for (const auto& [phases, of] : least_work_)
      if (phases <= plan.lengths.size()) least = std::min(least, of);
    if (work > least + least / 4) return;
    least_work_.insert_or_assign(plan.lengths.size(), least);
    found_.push_back(std::move(plan));
  }

  /// Chooses the radices; returns a lower bound on the cycles of passes, transpositions between
  /// phases and exchanges.
  std::uint64_t complete(Plan& plan) {
    const Digits digits(problem_, plan);
    const std::uint32_t last = digits.phases() - 1;
    std::uint64_t bound = 0;
    const auto exchange = [&](std::uint32_t phase) {
      const std::uint64_t bytes = digits.held(0, phase) * kPointBytes;
      bound += plans_.superstep({bytes, bytes, 0, digits.tiles()});
    };
    if (problem_.layout == Layout::natural) {
      exchange(digits.first_phase());
      exchange(last);
    }
    for (std::uint32_t phase = digits.first_phase(); phase <= last; ++phase) {
      const Passes& passes = best_passes(plan.lengths[phase], digits.columns(0, phase));
      plan.radices.insert(plan.radices.end(), passes.radices.begin(), passes.radices.end());
      bound += passes.cycles;
      if (phase == last) break;
      const Work work{plan.lengths[phase] / kUnitPoints, digits.columns(0, phase) / kUnitPoints};
      bound += cycles(functions_.transposition(digits.turns_after(phase)), work);
      if (plan.parts[phase] > 1) exchange(phase);
    }
    return bound;
  }

  std::uint64_t cycles(const plan::Function& function, const Work& work) {
    return division_.best(functions_, function, work).cycles;
  }

  struct Passes {
    Numbers radices;
    std::uint64_t cycles = ~std::uint64_t{0};
  };
  const Passes& best_passes(std::uint32_t length, std::uint64_t columns) {
    const auto [entry, is_new] = passes_.try_emplace({length, columns});
    if (!is_new) return entry->second;
    for (const Numbers& radices : radices_of(length)) {
      std::uint64_t sum = 0;
      for (const Pass& pass : passes_of({{length}, {}, radices}, 0))
        sum += cycles(functions_.pass(pass), work_of(pass, columns));
      if (sum < entry->second.cycles) entry->second = {radices, sum};
    }
    return entry->second;
  }

  const Problem& problem_;
  Division& division_;
  Functions functions_;
  kernels::Plans<Plan>& plans_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Passes> passes_;  ///< by length and columns
  std::vector<Plan> found_;
  std::map<std::size_t, std::uint64_t> least_work_;  ///< by number of digits of the plans
};

/// True if `lengths` are the batch (if there is one), then digits of problem.rows, then digits of
/// problem.points.
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
    require_pinned(holds, "radices", plan.radices,
                   "2 and 4, and 8 as a phase's first, whose products are {} in turn", lengths);
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
                "transform length of each phase, powers of two; with a batch the first entry is "
                "the number of arrays"},
               plan.lengths, {2, 1U << 24});
  fields.field({"parts",
                "number of tiles along the dimension of each exchange between phases; with a batch "
                "the first entry is the number of tiles that share its arrays"},
               plan.parts, {1, 1U << 24});
  fields.field(
      {"radices", "radix of each pass, in order of phases: 2 or 4, the first of a phase also 8"},
      plan.radices, {2, 8});
}

void complete(const Subject& subject, Plan& plan) {
  const Problem& problem = subject.problem();
  const std::uint32_t first = problem.first_phase();
  const bool powers = plan.lengths.size() > first &&
                      std::all_of(plan.lengths.begin() + first, plan.lengths.end(),
                                  [](std::uint32_t n) { return std::has_single_bit(n); });
  require_pinned(powers && divides(plan.lengths, problem), "lengths", plan.lengths,
                 "{}powers of two, the product of the first of them {} (workload.rows), of "
                 "all others {} (workload.points)",
                 first > 0 ? fmt::format("{} (workload.batch), then ", problem.batch) : "",
                 problem.rows, problem.points);
  require_pinned(plan.parts.size() + 1 == plan.lengths.size(), "parts", plan.parts,
                 counted(plan.lengths.size() - 1, "number"));
  for (std::size_t axis = 0; axis < plan.parts.size(); ++axis)
    require_pinned(plan.parts[axis] <= most_parts(plan.lengths, axis, problem), "parts", plan.parts,
                   "1 to {} in place {} (pairs of values of the digits)",
                   most_parts(plan.lengths, axis, problem), axis);
  require_pinned(product(plan.parts) <= subject.machine.tiles, "parts", plan.parts,
                 "a product of at most {}", counted(subject.machine.tiles, "tile"));
  check_radices(plan, first);
}

void add_plans(const std::shared_ptr<const Subject>& subject, kernels::Plans<Plan>& plans) {
  Candidates(*subject, plans).add_all();
}

/// Two buffers of points: source and destination of a pass.
std::uint64_t least_bytes(const Subject& subject, const Plan& plan) {
  return 2 * Digits(subject.problem(), plan).most_held(0) * kPointBytes;
}

void ask(const Subject& subject, plan::Pricing* pricing) { subject.division->ask(pricing); }

Kernel kernel() {
  return kernels::planned_kernel<Subject>("fft",
                                          "discrete Fourier transform in one or two dimensions");
}

}  // namespace tessera::fft
