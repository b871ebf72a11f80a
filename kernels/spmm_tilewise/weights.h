#pragma once

#include <string>

#include "kernels/spmm_tilewise/pattern.h"
#include "sim/config/fields.h"
#include "sim/program/program.h"

namespace tessera::spmm_tilewise {

/// The dense W[k, n] before pruning, and how it is pruned.
struct WeightOptions {
  std::uint32_t k = 768;
  std::uint32_t n = 768;
  std::string matrix;  ///< a file instead of seeded values; its header gives k and n
  double spread = 0;
  Pruning pruning;
  program::Type dtype = program::Type::f16;
  std::uint64_t seed = 1;
};

/// The keys of `weights`; they stand flat in `workload`. While reading, k and n become those of the
/// matrix file; contradictions are refused.
void describe(config::Fields& fields, WeightOptions& weights);

/// In a few words: "768x768 tw_1d 0.75 f16", with a matrix file's name.
std::string problem_of(const WeightOptions& weights);

/// W before pruning, rounded to dtype. Throws UserError naming the file or key.
DenseWeights make_weights(const WeightOptions& weights);

}  // namespace tessera::spmm_tilewise
