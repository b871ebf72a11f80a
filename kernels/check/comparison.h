#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sim/base/parallel.h"
#include "sim/program/workload.h"

namespace tessera::kernels {

/// One element: the value found and the value expected.
struct Compared {
  std::uint64_t row = 0;
  std::uint64_t column = 0;
  double found = 0;
  double expected = 0;
  double allowed = 0;  ///< allowed absolute error
  double reach = 0;    ///< bound on partial sums' magnitudes; 0: the result itself
  /// The exact value that the machine must compute, if known: then all bits must match.
  std::optional<double> exact = {};
};

/// Compares elements one by one; keeps counts and the worst element.
class Comparison {
 public:
  struct Result {
    std::string name = "Y";
    program::Type type = program::Type::f32;
    program::Type partials = program::Type::f32;
    /// Message for a wrong element; default: its place in `name`, its error and the allowed error.
    std::function<std::string(const Compared&)> says = {};
  };
  explicit Comparison(Result result) : result_(std::move(result)) {}

  void add(const Compared& one);
  /// Adds an element that must equal `exact` in every bit. Non-finite values that match pass: other
  /// comparisons report them.
  void add_exact(std::uint64_t row, std::uint64_t column, double found, double exact);
  /// Adds an element that must match in every bit; +0 and -0 are equal, as are all NaNs.
  void add_bits(const Compared& one);
  /// Compares items [0, items) on all threads, at most `grain` at a time. Elements of a call with
  /// `suspect` do not count in mean and RMS.
  using Items = std::function<void(std::size_t begin, std::size_t end, Comparison& into)>;
  void add_all(std::size_t items, std::size_t grain, HostThreads& threads, const Items& compare,
               bool suspect = false);
  void merge(const Comparison& other);

  /// Fails the result if its mean error is more than 8 standard deviations from 0; `independent` is
  /// the share of errors that count as independent. Only for random data.
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
  std::uint64_t averaged_ = 0;  ///< elements in sum_ and squares_
  double sum_ = 0;
  double squares_ = 0;
  std::uint64_t exact_ = 0;  ///< elements compared to the bit
  std::uint64_t wrong_ = 0;
  Compared culprit_;  ///< the worst wrong element
  double culprit_ratio_ = 0;
  bool overflow_ = false;
  std::string of_all_;  ///< message of judge_mean()
};

/// An element's expected value and allowed absolute error.
struct Expected {
  double value, allowed;
};
/// Compares all elements of a tensor. Messages give an element's index in the first dimension and
/// in the remaining ones; for a vector, 0 and its index.
CheckResult compare_all(const std::string& name, const TensorReader& tensors, HostThreads& threads,
                        const std::function<Expected(std::uint64_t number)>& expected);

/// Merges two results: fails if either does, adds counts, keeps the larger errors; a sample if
/// either is.
CheckResult worse(CheckResult one, const CheckResult& other);

}  // namespace tessera::kernels
