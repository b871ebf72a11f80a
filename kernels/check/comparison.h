#pragma once

#include <cstdint>
#include <functional>
#include <optional>
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
  double deviation = 0;  ///< of independent roundings, at most; 0: not known
  /// What the machine has to make of it, if known: then its bits decide, not `allowed`.
  std::optional<double> exact = {};
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
  void replay(const Compared& one);
  /// One of the same result that has seen nothing, and what another such one has seen.
  [[nodiscard]] Comparison fresh() const { return Comparison(result_, replay_); }
  void merge(const Comparison& other);

  /// Whether the errors together are not those of independent roundings: their mean is 8 of its
  /// standard deviations from 0, or their mean square more than 1.5 of what it may be. Roundings of
  /// repeated data may do so too: only a replay tells.
  [[nodiscard]] bool strays() const { return biased(averaged_) || noisy(); }
  /// Makes the result wrong if the mean of its errors is off. Only for random data, whose roundings
  /// are as good as `independent` ones.
  void judge_mean(std::uint64_t independent);
  [[nodiscard]] bool passed() const { return wrong_ == 0; }
  [[nodiscard]] CheckResult result(std::string method) const;

 private:
  [[nodiscard]] bool biased(std::uint64_t independent) const;
  [[nodiscard]] bool noisy() const;
  [[nodiscard]] double ratio_of(const Compared& one) const;
  /// Counts it and finds what is wrong; whether its error is within what is allowed.
  bool accept(const Compared& one, double ratio);
  void judge(const Compared& one, double ratio);
  void judge_bits(const Compared& one, double ratio, double exact);
  void blame_bits(Compared one, double exact);
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
