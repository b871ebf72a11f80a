#pragma once

#include <vector>

#include "kernels/check/comparison.h"
#include "kernels/layout.h"
#include "sim/base/parallel.h"

/// The plain product in double, written without regard to tiles, and how far a result may be off.
namespace tessera::gemm {

/// What was multiplied and what was found, Y[rows, columns] of X[rows, depth] W[depth, columns],
/// each row after row.
struct Finished {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t depth = 0;
  std::vector<float> x, w, y;
};

/// Roundings that a result goes through.
struct Rounding {
  double sum;                ///< relative error of one addition inside the matrix unit
  double partial;            ///< of storing a partial sum
  bool every_block;          ///< partial sums are rounded to a narrower type after every block
  double result;             ///< of rounding a result
  double smallest_sum;       ///< half the smallest number above zero of the matrix unit's sums,
  double smallest_partial;   ///< of the partials' type
  double smallest_result;    ///< and of the result's
  std::uint64_t block = 16;  ///< depths that are added up before a partial sum is stored
  double parts = 1;          ///< parts of the depth that are added up at the end
};

/// Compares elements of one row of Y. An element y may be off by
///   8 (s sqrt(sum of p^2 after every depth) + u sqrt(sum of p^2 over all p that are stored))
///   + what roundings below the smallest normal numbers add + r |y|
/// with partial sums p and s, u, r the relative errors above: eight standard deviations and more of
/// independent roundings (Higham and Mary, SIAM J. Sci. Comput. 41, 2019). `suspect`: elements were
/// chosen because they stand out.
void compare_row(const Finished& product, const Rounding& rounding, std::uint64_t row,
                 kernels::Interval columns, bool suspect, kernels::Comparison& comparison);

/// Compares all elements. Where their mean or mean square says that they are off in one direction
/// or too far, which rounding of repeated data may cause, all are replayed.
void compare_all(const Finished& product, const Rounding& rounding, HostThreads& threads,
                 kernels::Comparison& comparison);

/// What sums with random signs (kernels/check/signs.h) along rows and columns of Y say of it.
struct SumsFound {
  double worst = 0;           ///< ratio of an error to what is allowed, where nothing stood out
  double threshold = 0;       ///< Screen's
  double lone_threshold = 0;  ///< Screen's
};
/// Checks them and compares the elements and segments that stand out, worst first, as many as there
/// is time for; where those are right after all (roundings that are not independent), thresholds
/// are raised to what was left out.
SumsFound compare_sums(const Finished& product, const Rounding& rounding, std::uint64_t seed,
                       HostThreads& threads, kernels::Comparison& comparison);

}  // namespace tessera::gemm
