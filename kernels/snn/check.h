#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/snn/program.h"
#include "kernels/snn/reference.h"

namespace tessera::snn {

/// What a run did, done again plainly, and compared. The reference makes every rounding where the
/// machine makes it, so nothing may differ: losses, lists, counts, weights, moments, events.
class SnnCheck {
 public:
  /// Both outlive it.
  SnnCheck(const Snn& snn, const TensorReader& tensors, unsigned threads);

  /// `full`: all batches; else the first ones, as many as there is time for, and what a sample of
  /// neurons, chosen by `seed`, says of the last batch.
  CheckResult run(bool full, std::uint64_t seed);

 private:
  /// The batch of that number of so many samples from `first` on.
  struct Turn {
    std::uint64_t number, first, samples;
  };
  [[nodiscard]] Turn test(std::uint64_t number) const;
  [[nodiscard]] std::uint64_t sample(const Turn& turn, std::uint32_t place) const;
  training::StepResult run_reference(const Turn& turn, bool trains);
  void add_totals();

  void compare_results(const char* what, std::size_t number, const training::StepResult& found,
                       const training::StepResult& expected);
  void compare_fed();
  void compare_weights();
  void compare_moments(std::uint32_t layer, Kept kept, std::span<const float> expected);
  void compare_numbers(const std::string& name, std::span<const float> expected);
  void compare_lists();
  void compare_totals();

  // check_sample.cpp
  void compare_neurons(std::uint64_t seed);
  void compare_marks(VectorId vector, std::uint32_t sample, std::uint32_t step, const List& list,
                     const std::vector<std::uint32_t>& chosen,
                     const std::vector<std::uint32_t>& marks);
  PlainNetwork::Lists held_lists();

  /// Of vectors whose lists the machine holds to the end.
  [[nodiscard]] bool holds(VectorId vector) const {
    return !snn_.dense_ && plan_.lists[vector].capacity > 0;
  }
  /// The first problem is the one that is told.
  void blame(double error, const std::string& problem);

  const Snn& snn_;
  const Options& options_;
  const Plan& plan_;
  const TensorReader& tensors_;
  HostThreads threads_;
  Network weights_;
  std::unique_ptr<PlainNetwork> network_;
  CheckResult result_;
  /// Of vectors' lists in all turns, as tiles count them.
  std::vector<std::vector<std::uint32_t>> totals_;
};

}  // namespace tessera::snn
