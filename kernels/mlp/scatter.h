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
/// Number of perturbed trainings, initially and at most. It is doubled while something deviates: an
/// estimated deviation of 3 degrees of freedom is a tenth of the true one once in 700 times.
constexpr std::size_t kFirstTrainings = 3;
constexpr std::size_t kMostTrainings = 31;

/// Compares `found` with a number of each plain training, the unperturbed one first. `least`: a
/// deviation to allow even if no perturbed training shows it, such as that of rounding.
kernels::Compared compared(double found, std::span<const double> trained, double least);
double deviation(std::span<const double> trained);

/// The parameters of one map, [training][parameter], all after the same steps.
struct TrainedParameters {
  std::span<const float> found;
  std::vector<std::span<const float>> trained;
  std::span<const double> initial;
  program::Type type;  ///< the machine's type for them
  /// Gradients are sums of f16 numbers rounded to f16: their rounding may depend on several of
  /// these at once, in a way that none of the trainings shows.
  bool halves = false;
};
/// True if the expected training moved at least kDeviations times as far as the perturbed ones
/// scatter.
bool change_is_significant(const TrainedParameters& parameters);
/// The largest difference of a perturbed training's parameter that is beyond the limit set by the
/// other trainings: each of them is as valid as the one found.
double largest_surprise(const TrainedParameters& parameters);
/// Allowed differences by parameter. Variances of few trainings are moderated towards the median of
/// all (Smyth, Stat. Appl. Genet. Mol. Biol. 3, 2004). With `halves` and the maximum number of
/// trainings, at least twice the largest surprise is allowed.
std::vector<double> allowed_of(const TrainedParameters& parameters);
/// Comparison of all parameters together: `size`, the root mean square of differences over
/// deviations (at most kDeviations each: larger ones are judged one by one), and `share`, by which
/// the found change exceeds the expected one; both compared with the perturbed trainings'.
struct OverallComparison {
  kernels::Compared size, share;
};
OverallComparison compared_together(const TrainedParameters& parameters);

}  // namespace tessera::mlp
