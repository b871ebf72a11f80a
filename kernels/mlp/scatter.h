#pragma once

#include <span>
#include <vector>

#include "kernels/check/comparison.h"

/// Tests if the result is one of the trainings that roundings allow. These scatter: the first is
/// done without perturbations, the K others with perturbed sums (Arithmetic), and the squares of
/// their differences from the first estimate a variance of K degrees of freedom.
namespace tessera::mlp {

/// The limit of differences, in standard deviations of the perturbed trainings. Perturbations
/// exceed the machine's roundings about kExcess = 4 times, so that eight deviations are 32 of the
/// machine's. Where a perturbed training and the result take different branches (a ReLU, a rounding
/// to f16, a logit that is the largest) it suffices that one of up to 64 does: 8 sqrt(1/64) = 1.
constexpr double kDeviations = 8;
/// Perturbed trainings at first, and at most: as many again while something stands out, since a
/// deviation of 3 degrees of freedom comes out as a tenth of itself once in 700 times.
constexpr std::size_t kFirstTrainings = 3;
constexpr std::size_t kMostTrainings = 31;

/// A number of each training: `found`, then the unperturbed one's and those of all others.
/// `least`: a deviation that is there even if no perturbed training shows it, as where a number is
/// rounded.
kernels::Compared compared(double found, std::span<const double> trained, double least);
double deviation(std::span<const double> trained);

/// The parameters of one map, [training][parameter], all after the same steps.
struct TrainedParameters {
  std::span<const float> found;
  std::vector<std::span<const float>> trained;
  std::span<const double> initial;
  program::Type type;  ///< that the machine keeps them in
  /// Gradients are rounded to f16, out of sums of numbers that are: which way may depend on several
  /// of those at once, as in none of so many trainings.
  bool halves = false;
};
/// True if the expected training moved at least kDeviations times as far as the perturbed ones
/// scatter.
bool change_is_significant(const TrainedParameters& parameters);
/// The largest difference by which one of the perturbed trainings stands out from the others: each
/// of them is as good as the one found.
double largest_surprise(const TrainedParameters& parameters);
/// How far each may be off. Variances of so few trainings are drawn to the median of all
/// (moderated: Smyth, Stat. Appl. Genet. Mol. Biol. 3, 2004). With `halves` and as many trainings
/// as there are at most, one may be off by twice the largest surprise.
std::vector<double> allowed_of(const TrainedParameters& parameters);
/// All together: the root mean square of differences over deviations (at most kDeviations: larger
/// ones are judged one by one), beside those of the perturbed trainings; and the share of the
/// expected change by which the found one is longer or shorter, beside the shares of theirs.
struct Together {
  kernels::Compared size, share;
};
Together compared_together(const TrainedParameters& parameters);

}  // namespace tessera::mlp
