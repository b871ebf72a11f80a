#include "kernels/check/comparison.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "kernels/check/rounding.h"
#include "sim/data/element.h"

namespace tessera::kernels {

namespace {

constexpr double kDeviations = 8;

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

/// The error over the allowed error. A NaN or infinity counts as about the type's largest value.
double Comparison::ratio_of(const Compared& one) const {
  const double largest = data::largest_finite(result_.type);
  double error = std::abs(one.found - one.expected);
  if (std::isnan(one.found)) {
    error = std::abs(one.expected) + largest;
  } else if (std::isinf(one.found)) {
    error = std::max(std::abs(std::copysign(largest, one.found) - one.expected), one.allowed * 2);
  }
  return error == 0 ? 0 : error / one.allowed;
}

void Comparison::add(const Compared& one) {
  const double ratio = ratio_of(one);
  ++compared_;
  const bool within = ratio <= 1;
  if (within) worst_ = std::max(worst_, ratio);
  if (one.exact) {
    judge_bits(one, ratio, *one.exact);
  } else if (!within) {
    judge(one, ratio);
  }
  if (!within || suspect_) return;
  sum_ += one.found < one.expected ? -ratio : ratio;
  squares_ += ratio * ratio;
  ++averaged_;
}

void Comparison::add_exact(std::uint64_t row, std::uint64_t column, double found, double exact) {
  ++exact_;
  if (same(found, exact)) return;
  const double allowed =
      data::unit_roundoff(result_.type) * std::abs(exact) + half_smallest(result_.type);
  const Compared one{row, column, found, exact, allowed};
  blame(one, ratio_of(one), false);
}

void Comparison::add_bits(const Compared& one) {
  ++compared_;
  ++exact_;
  if (!same(one.found, one.expected)) blame_bits(one, one.expected);
}

void Comparison::add_all(std::size_t items, std::size_t grain, HostThreads& threads,
                         const Items& compare, bool suspect) {
  constexpr std::size_t kPieces = 1024;  // held at a time
  Comparison fresh(result_);
  fresh.suspect_ = suspect;
  for (std::size_t first = 0; first < items; first += kPieces * grain) {
    const std::size_t count = std::min(items - first, kPieces * grain);
    std::vector<Comparison> pieces(ceil_div(count, grain), fresh);
    threads.for_ranges(count, grain, [&](std::size_t begin, std::size_t end) {
      compare(first + begin, first + end, pieces[begin / grain]);
    });
    for (const Comparison& piece : pieces) merge(piece);
  }
}

/// Blames wrong bits, and matching values that are not finite (as overflow).
void Comparison::judge_bits(const Compared& one, double ratio, double exact) {
  ++exact_;
  if (!same(one.found, exact)) {
    blame_bits(one, exact);
  } else if (!std::isfinite(exact)) {
    blame(one, ratio, true);
  }
}

void Comparison::blame_bits(Compared one, double exact) {
  one.expected = exact;
  one.allowed = data::unit_roundoff(result_.type) * std::abs(exact);
  blame(one, ratio_of(one), false);
}

void Comparison::judge(const Compared& one, double ratio) {
  const program::Type narrow =
      result_.partials == program::Type::f16 ? result_.partials : result_.type;
  const double reach = std::max(one.reach, std::abs(one.expected)) + one.allowed;
  blame(one, ratio, !std::isfinite(one.found) && reach >= data::largest_finite(narrow));
}

void Comparison::blame(const Compared& one, double ratio, bool overflow) {
  ++wrong_;
  if (std::isnan(ratio)) ratio = HUGE_VAL;
  worst_ = std::max(worst_, ratio);
  if (wrong_ > 1 && !(ratio > culprit_ratio_)) return;
  culprit_ = one;
  culprit_ratio_ = ratio;
  overflow_ = overflow;
}

void Comparison::merge(const Comparison& other) {
  worst_ = std::max(worst_, other.worst_);
  compared_ += other.compared_;
  averaged_ += other.averaged_;
  sum_ += other.sum_;
  squares_ += other.squares_;
  exact_ += other.exact_;
  if (other.wrong_ > 0 && (wrong_ == 0 || other.culprit_ratio_ > culprit_ratio_)) {
    culprit_ = other.culprit_;
    culprit_ratio_ = other.culprit_ratio_;
    overflow_ = other.overflow_;
  }
  wrong_ += other.wrong_;
}

/// Student's t-test of the signed errors' mean against 0.
void Comparison::judge_mean(double independent) {
  const auto all = static_cast<double>(averaged_);
  const double share = std::min(1.0, independent);
  const bool biased = std::abs(sum_) * share > kDeviations * std::sqrt(squares_ * share) &&
                      all * share > kDeviations * kDeviations;
  if (!biased) return;
  if (wrong_ == 0)
    of_all_ =
        fmt::format("all of {} deviates in one direction, by {:.3g} of the bound of one element",
                    result_.name, sum_ / all);
  ++wrong_;
}

std::string Comparison::problem() const {
  if (!of_all_.empty()) return of_all_;
  const Compared& one = culprit_;
  if (result_.says) return result_.says(one);
  const std::string place = fmt::format("{}[{}, {}]", result_.name, one.row, one.column);
  const std::string others = wrong_ > 1 ? fmt::format("; {} such elements found", wrong_) : "";
  if (overflow_) {
    const double largest = data::largest_finite(result_.type);
    const bool itself = std::abs(one.expected) > largest;
    const program::Type type = itself ? result_.type : result_.partials;
    return fmt::format("{} = {:.6g} overflows: the largest {} is {:g}{}, found {}{}", place,
                       one.expected, config::name_of(data::kFloatTypes, type),
                       data::largest_finite(type), itself ? "" : ", which intermediate sums exceed",
                       one.found, others);
  }
  return fmt::format("{} is {:.9g}, expected {:.9g}: error {:.3g}, allowed 1{}", place, one.found,
                     one.expected, culprit_ratio_, others);
}

CheckResult Comparison::result(std::string method) const {
  CheckResult result{passed(), worst_, 1, std::move(method)};
  if (!passed()) result.problem = problem();
  result.compared = compared_;
  result.replayed = exact_;
  const double count = static_cast<double>(std::max<std::uint64_t>(averaged_, 1));
  result.mean = sum_ / count;
  result.rms = std::sqrt(squares_ / count);
  return result;
}

CheckResult compare_all(const std::string& name, const TensorReader& tensors, HostThreads& threads,
                        const std::function<Expected(std::uint64_t number)>& expected) {
  const program::Tensor& tensor = tensors.tensor(name);
  const bool integer = tensor.type == program::Type::i32 || tensor.type == program::Type::u32;
  const program::Type type = integer ? program::Type::f32 : tensor.type;
  Comparison comparison({name, type, type});
  const std::vector<std::byte> found = tensors.bytes(name, threads);
  const std::uint64_t all = tensor.elements();
  const std::uint64_t line = tensor.shape.size() == 1 ? all : all / tensor.shape.front();
  for (std::uint64_t i = 0; i < all; ++i) {
    const auto [value, allowed] = expected(i);
    comparison.add({i / line, i % line, data::load_element(tensor.type, found, i), value, allowed});
  }
  return comparison.result("full");
}

CheckResult worse(CheckResult one, const CheckResult& other) {
  if (one.passed && !other.passed) one.problem = other.problem;
  one.passed = one.passed && other.passed;
  if (other.method == "sample") one.method = other.method;
  one.max_error = std::max(one.max_error, other.max_error);
  one.compared += other.compared;
  one.replayed += other.replayed;
  one.threshold = std::max(one.threshold, other.threshold);
  one.lone_threshold = std::max(one.lone_threshold, other.lone_threshold);
  one.missed_probability = std::max(one.missed_probability, other.missed_probability);
  return one;
}

}  // namespace tessera::kernels
