#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "sim/program/workload.h"

namespace tessera::kernels {

/// A result and what it should be.
struct Compared {
  std::uint64_t row = 0;
  std::uint64_t column = 0;
  double found = 0;
  double expected = 0;
  double allowed = 0;    ///< how far it may be off
  double reach = 0;      ///< no partial sum can be larger in magnitude; 0: the result itself
  double deviation = 0;  ///< of independent roundings, at most; 0: they are not judged together
};

/// Compares results one by one and keeps the worst.
class Comparison {
 public:
  /// What the machine has to make of an element, every rounding in the order of the plan.
  using Replay = std::function<double(std::uint64_t row, std::uint64_t column)>;

  struct Result {
    std::string name = "Y";
    program::Type type = program::Type::f32;
    program::Type partials = program::Type::f32;
    bool transposed = false;  ///< people know the result as its transpose
  };
  explicit Comparison(Result result, Replay replay = {})
      : result_(std::move(result)), replay_(std::move(replay)) {}

  void add(const Compared& one);
  /// The same without its part in mean and RMS: elements chosen because they stand out.
  void add_suspect(const Compared& one);
  /// `exact` is what the machine has to make of it: no bit may differ. What is no number is left to
  /// the others to report.
  void add_replayed(const Compared& one, double exact);
  /// The same by its replay.
  void replay(Compared one);
  /// One of the same result that has seen nothing, and what another such one has seen.
  [[nodiscard]] Comparison fresh() const { return Comparison(result_, replay_); }
  void merge(const Comparison& other);

  /// Whether the errors together are not those of roundings: their mean is 8 of its standard
  /// deviations from 0, or their mean square more than 1.5 of what it may be. Roundings of data
  /// that repeat themselves are as good as `independent` ones.
  [[nodiscard]] bool strays(std::uint64_t independent = ~std::uint64_t{0}) const {
    return biased(independent) || noisy(judged_squares_, judged_, independent);
  }
  /// Makes the result wrong for it.
  void judge_all(std::uint64_t independent);
  /// Makes it wrong for what sums over all elements say.
  void blame_all(std::string problem);
  /// Whether `count` errors over their deviations, whose squares add up to `squares`, are too large
  /// together.
  [[nodiscard]] static bool noisy(double squares, std::uint64_t count, std::uint64_t independent);
  [[nodiscard]] bool passed() const { return wrong_ == 0; }
  [[nodiscard]] CheckResult result(std::string method) const;

 private:
  [[nodiscard]] bool biased(std::uint64_t independent) const;
  [[nodiscard]] double ratio_of(const Compared& one) const;
  void judge(const Compared& one, double ratio);
  void blame(const Compared& one, double ratio, bool overflow);
  [[nodiscard]] std::string problem() const;

  Result result_;
  Replay replay_;
  double worst_ = 0;
  std::uint64_t compared_ = 0;
  std::uint64_t averaged_ = 0;  ///< elements in these two:
  double sum_ = 0;
  double squares_ = 0;
  std::uint64_t judged_ = 0;   ///< elements of which the deviation is known, and in this:
  double judged_squares_ = 0;  ///< of their errors over it
  std::uint64_t replayed_ = 0;
  std::uint64_t wrong_ = 0;
  Compared culprit_;  ///< the worst that is wrong
  double culprit_ratio_ = 0;
  bool overflow_ = false;
  std::string of_all_;  ///< what is wrong with the errors of all
};

/// Both, the worse of each; a sample if one is.
CheckResult worse(CheckResult one, const CheckResult& other);

}  // namespace tessera::kernels
