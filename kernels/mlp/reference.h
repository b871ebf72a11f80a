#pragma once

#include <span>
#include <vector>

#include "kernels/mlp/mlp.h"
#include "kernels/mlp/plain_map.h"
#include "kernels/training/learning.h"
#include "sim/base/parallel.h"

/// The reference training: plain loops over samples and weights, forward, backward and update, in
/// double or in the machine's arithmetic.
namespace tessera::mlp {

class PlainNetwork {
 public:
  /// The options and maps outlive it. Computes in double by default.
  PlainNetwork(const Options& options, const std::vector<Linear>& linears, Numbers numbers = {});

  /// Takes a sample forward and returns its share of the batch's loss; in f16 the image is rounded.
  StepResult look(const Vector& image, std::uint32_t label);
  /// Adds the gradients of the last sample.
  void learn(std::uint32_t label);
  /// Ends the samples of one copy of the network: rounds its gradients and adds them to the other
  /// copies'.
  void gather();
  /// Updates the parameters. If a gradient overflowed in f16, only the scale changes.
  void update();
  /// The mean loss and the number of correct samples since the last call.
  StepResult taken_result();
  [[nodiscard]] bool skipped() const { return skipped_; }  ///< the last update
  /// Sets the parameters of each map.
  void take(const std::vector<std::vector<float>>& parameters);
  [[nodiscard]] const std::vector<std::unique_ptr<PlainMap>>& maps() const { return maps_; }

 private:
  double cross_entropy(std::uint32_t label);
  void rescale();

  const Options& options_;
  const std::vector<Linear>& linears_;
  Arithmetic round_;
  training::PlainLearning learning_;
  std::vector<std::unique_ptr<PlainMap>> maps_;
  std::vector<std::vector<float>> first_, second_;  ///< moments
  std::vector<Vector> gathered_;                    ///< gradients of copies
  std::vector<Squares> of_copies_;
  Vector input_, exponentials_;
  double sum_ = 0;                      ///< sum of exponentials
  std::vector<Vector> sums_, outputs_;  ///< sums and outputs of the sample
  StepResult batch_{};                  ///< sums over samples since taken_result()
  double loss_squares_ = 0;
  double scale_ = 1;  ///< factor of gradients
  double inverse_ = 1;
  bool skipped_ = false;
  std::uint32_t good_ = 0;
};

/// The outcome of a training, and of tests after it.
struct Trained {
  std::vector<StepResult> training, test;
  std::vector<std::vector<float>> parameters;  ///< by map, as initial_parameters()
};

/// The part of a training that is repeated.
struct Extent {
  training::Turns turns;
  /// Parameters when tests begin, by map.
  const std::vector<std::vector<float>>& tested;
};

/// Number of steps whose gradients overflow f16, for predictions. The plain network runs the first
/// steps, up to 100 MFLOP, at least one step of up to a GFLOP; for larger steps no overflow is
/// expected. At a fixed scale the other steps overflow at the same rate; a dynamic scale that was
/// halved overflows again whenever it doubles.
training::Skips expected_skips(const Options& options, const Data& data,
                               const std::vector<Linear>& linears, const training::Turns& turns,
                               std::uint64_t flops_a_step);

/// One training per seed of perturbations, by threads in parallel.
std::vector<Trained> train_plainly(const Options& options, const Data& data,
                                   const std::vector<Linear>& linears, const Extent& extent,
                                   std::span<const std::uint64_t> seeds, HostThreads& threads);

}  // namespace tessera::mlp
