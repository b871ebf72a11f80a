#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sim/base/parallel.h"
#include "sim/program/workload.h"

namespace tessera::kernels {

/// A result and what it should be.
struct Compared {
  std::uint64_t row = 0;
  std::uint64_t column = 0;
  double found = 0;
  double expected = 0;
  double allowed = 0;  ///< how far it may be off
  double reach = 0;    ///< no partial sum can be larger in magnitude; 0: the result itself
  /// The value that the machine has to compute, if known: then its bits decide, not `allowed`.
  std::optional<double> exact = {};
};

/// Compares results one by one and keeps the worst.
class Comparison {
 public:
  struct Result {
    std::string name = "Y";
    program::Type type = program::Type::f32;
    program::Type partials = program::Type::f32;
    /// Describes a wrong element; absent: its place in `name`, its error and what is allowed.
    std::function<std::string(const Compared&)> says = {};
  };
  explicit Comparison(Result result) : result_(std::move(result)) {}

  void add(const Compared& one);
  /// `exact` is what the machine has to make of an element: no bit may differ. What is no number is
  /// left to the others to report.
  void add_exact(std::uint64_t row, std::uint64_t column, double found, double exact);
  /// Adds an element that must be right to the bit; zeros of either sign are equal, as are NaNs.
  void add_bits(const Compared& one);
  /// Compares items [0, items) on all threads, at most `grain` at a time. Elements chosen because
  /// they are suspect have no part in mean and RMS.
  using Items = std::function<void(std::size_t begin, std::size_t end, Comparison& into)>;
  void add_all(std::size_t items, std::size_t grain, HostThreads& threads, const Items& compare,
               bool suspect = false);
  void merge(const Comparison& other);

  /// Makes the result wrong if the mean of its errors is 8 of its standard deviations from 0, given
  /// which share of the errors is as good as independent. Only for random data.
  void judge_mean(double independent);
  [[nodiscard]] bool passed() const { return wrong_ == 0; }
  [[nodiscard]] CheckResult result(std::string method) const;

 private:
  [[nodiscard]] double ratio_of(const Compared& one) const;
  void judge(const Compared& one, double ratio);
  void judge_bits(const Compared& one, double ratio, double exact);
  void blame_bits(Compared one, double exact);
  void blame(const Compared& one, double ratio, bool overflow);
  [[nodiscard]] std::string problem() const;

  Result result_;
  bool suspect_ = false;
  double worst_ = 0;
  std::uint64_t compared_ = 0;
  std::uint64_t averaged_ = 0;  ///< elements in these two:
  double sum_ = 0;
  double squares_ = 0;
  std::uint64_t exact_ = 0;  ///< elements compared to the bit
  std::uint64_t wrong_ = 0;
  Compared culprit_;  ///< the worst that is wrong
  double culprit_ratio_ = 0;
  bool overflow_ = false;
  std::string of_all_;  ///< problem of all errors together
};

/// An element's expected value, and how far it may be off.
struct Expected {
  double value, allowed;
};
/// Compares all elements of a result, one after the other. They are told by their numbers along the
/// first extent and in what lies behind it; those of a vector by their number.
CheckResult compare_all(const std::string& name, const TensorReader& tensors, HostThreads& threads,
                        const std::function<Expected(std::uint64_t number)>& expected);

/// Both, the worse of each; a sample if one is.
CheckResult worse(CheckResult one, const CheckResult& other);

}  // namespace tessera::kernels
