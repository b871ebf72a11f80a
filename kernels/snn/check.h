#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/check/check.h"
#include "kernels/snn/program.h"
#include "kernels/snn/reference.h"

namespace tessera::snn {

/// What a run did, done again plainly, and compared. The reference makes every rounding where the
/// machine makes it, so nothing may differ: losses, lists, counts, weights, moments, events.
class SnnCheck {
 public:
  /// Both outlive it.
  SnnCheck(const Snn& snn, const TensorReader& tensors, const CheckRequest& request);

  /// `full`: all batches; else the first ones, as many as there is time for, and what a sample of
  /// neurons says of the last batch.
  CheckResult run(bool full);

 private:
  using Words = std::vector<std::uint32_t>;

  /// Some batches, and what the host was told of them.
  void take(const training::Batches& batches, std::uint64_t count, bool trains);
  void add_totals();
  /// Every bit of the first numbers of a tensor, rows of `columns`.
  template <class Number>
  void compare(kernels::Comparison::Result result, const std::vector<Number>& found,
               std::span<const Number> expected, std::uint64_t columns);
  void compare_fed();
  void compare_weights();
  void compare_matrix(std::uint32_t layer, Kept kept, std::span<const float> expected);
  void compare_lists();
  void compare_totals();

  // check_sample.cpp
  void compare_neurons();
  PlainNetwork::Lists held_lists();

  /// Of vectors whose lists the machine holds to the end.
  [[nodiscard]] bool holds(VectorId vector) const {
    return !snn_.dense_ && plan_.lists[vector].capacity > 0;
  }

  const Snn& snn_;
  const Options& options_;
  const Plan& plan_;
  const TensorReader& tensors_;
  CheckRequest request_;
  HostThreads threads_;
  Network weights_;
  std::unique_ptr<PlainNetwork> network_;
  CheckResult result_{.passed = true, .bound = 1};
  std::vector<Words> totals_;  ///< of vectors' lists in all turns, as tiles count them
};

template <class Number>
void SnnCheck::compare(kernels::Comparison::Result result, const std::vector<Number>& found,
                       std::span<const Number> expected, std::uint64_t columns) {
  const auto add = [&](std::uint64_t i, kernels::Comparison& into) {
    into.add_bits({i / columns, i % columns, static_cast<double>(found[i]),
                   static_cast<double>(expected[i])});
  };
  result_ = kernels::worse(
      result_, kernels::check(one_by_one(std::move(result), expected.size(), columns, add),
                              request_, threads_));
}

}  // namespace tessera::snn
