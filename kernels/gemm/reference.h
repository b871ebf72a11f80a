#pragma once

#include <vector>

#include "sim/data/dense_operand.h"
#include "sim/program/workload.h"

/// The plain product in double, written without regard to tiles, and how far a result may be off.
namespace tessera::gemm {

using Operand = data::DenseOperand;

/// The finished product, row after row.
struct Matrix {
  std::uint64_t rows;
  std::uint64_t columns;
  std::vector<float> values;
};

/// Roundings that a result goes through.
struct Rounding {
  double sum;           ///< relative error of one addition
  double partial;       ///< of storing a partial sum
  std::uint64_t depth;  ///< inputs that are added up between two partial sums
  bool every_block;     ///< which are then rounded to a narrower type
  double result;        ///< of rounding a result
  double smallest;      ///< half the smallest number above zero of the partials' type
  double parts;         ///< parts of the depth that are added up at the end
};

/// Compares `c` with A B. An element c may be off by
///   8 (s sqrt(sum of p^2 after every depth) + u sqrt(sum of p^2 over all p that are stored))
///   + (blocks of the depth + parts) smallest + r |c|
/// with partial sums p and s, u, r the relative errors above: eight standard deviations and more of
/// independent roundings (Higham and Mary, SIAM J. Sci. Comput. 41, 2019). max_error is the largest
/// error over that, so its bound is 1.
/// `full` compares every element; `sample` a random one of each 16 x 16 block, and each row's sum
/// with random signs (Freivalds), which may be off by 8 sqrt(n) times the sampled elements' root
/// mean square bound.
CheckResult compare(const Matrix& c, const Operand& a, const Operand& b, const Rounding& rounding,
                    std::uint64_t seed, bool full);

}  // namespace tessera::gemm
