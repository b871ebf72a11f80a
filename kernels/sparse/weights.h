#pragma once

#include <cstdint>
#include <string>

#include "kernels/sparse/block_matrix.h"
#include "sim/config/fields.h"
#include "sim/program/program.h"

namespace tessera::sparse {

enum class Pattern : std::uint8_t { uniform };

/// What W[m, k] is: a file's matrix or a seeded one. Kernels keep it as a member and describe it
/// among their own keys.
struct WeightOptions {
  std::uint32_t m = 1024;
  std::uint32_t k = 1024;
  std::uint32_t block = 1;  ///< 1, 4, 8 or 16
  Pattern pattern = Pattern::uniform;
  double density = 0.0625;
  std::string matrix;  ///< a file instead of a pattern; gives m and k
  program::Type dtype = program::Type::f32;
  std::uint64_t seed = 1;
};

/// The keys of `weights`; they stand flat in `workload`.
void describe(config::Fields& fields, WeightOptions& weights);

/// W: values rounded to dtype, those of a pattern's blocks uniform in [-1, 1). Throws UserError
/// naming the key or file:line. Its rows and columns are the effective m and k.
BlockMatrix make_weights(const WeightOptions& weights);

}  // namespace tessera::sparse
