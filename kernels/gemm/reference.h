#pragma once

#include <vector>

#include "kernels/gemm/operand.h"
#include "sim/program/workload.h"

/// The plain product in double, written without regard to tiles, and how far a result may be off.
namespace tessera::gemm {

/// The finished product, row after row.
struct Matrix {
  std::uint64_t rows;
  std::uint64_t columns;
  std::vector<float> values;
};

/// Roundings that a result goes through.
struct Rounding {
  double partial;        ///< relative error of rounding a partial sum
  double result;         ///< of rounding a result
  double smallest;       ///< half the smallest number above zero of the partials' type
  double for_16_depths;  ///< how often partial sums are rounded while 16 depths are added
  double parts;          ///< parts of the depth that are added up at the end
};

/// Compares `c` with A B. Each element may be off by
///   8 u sqrt(sum of p^2 over all partial sums p that are rounded) + roundings x smallest + u' |c|
/// that is eight standard deviations and more of independent roundings (Higham and Mary, SIAM J.
/// Sci. Comput. 41, 2019); max_error is the largest error over that, so its bound is 1.
/// `full` compares every element; `sample` a random one of each 16 x 16 block, and each row's sum
/// with random signs (Freivalds), which may be off by 8 sqrt(n) times the sampled elements' root
/// mean square bound.
CheckResult compare(const Matrix& c, const Operand& a, const Operand& b, const Rounding& rounding,
                    std::uint64_t seed, bool full);

}  // namespace tessera::gemm
