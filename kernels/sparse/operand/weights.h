#pragma once

#include <cstdint>
#include <string>

#include "kernels/sparse/operand/block_matrix.h"
#include "kernels/sparse/operand/pattern.h"
#include "sim/config/fields.h"
#include "sim/machine/machine_config.h"
#include "sim/program/program.h"

namespace tessera::sparse {

enum class Pattern : std::uint8_t {
  uniform,
  row_skewed,
  n_of_m,
  banded,
  tile_wise,
  butterfly,
  poisson_2d,
  poisson_3d,
  rmat
};

enum class Prune : std::uint8_t { none, blocks };

/// Options of W[m, k], from a file or seeded. Kernels hold it as a member and describe it among
/// their own keys; its sentences, ranges and users are in weight_keys.cpp.
struct WeightOptions {
  std::uint32_t m = 4096;
  std::uint32_t k = 4096;
  std::uint32_t block = 1;
  Pattern pattern = Pattern::uniform;
  double density = 0.0625;
  double skew = 1;
  std::uint32_t keep = 2;
  std::uint32_t group = 4;
  std::uint32_t bandwidth = 8;
  std::uint32_t granularity = 128;
  std::uint32_t butterfly_size = 0;  ///< 0: the largest that m, k and block allow
  std::uint32_t factors = 0;         ///< 0: all
  std::uint32_t global = 0;
  std::string matrix = {};  ///< a file instead of a pattern; its header gives m and k
  Prune prune = Prune::none;
  program::Type dtype = program::Type::f32;
  std::uint64_t seed = 1;
};

enum class ElementTypes : std::uint8_t { of_floats, with_vectors };

/// Describes the keys of `weights` in `workload`. While reading, m and k are set to those of the
/// matrix file, or of a square pattern; contradictions are refused.
void describe(config::Fields& fields, WeightOptions& weights,
              ElementTypes types = ElementTypes::of_floats);

/// Short text: "4096x4096 uniform 0.0625 f16, blocks of 16", or the matrix file's name.
std::string problem_of(const WeightOptions& weights);

/// The mask of pattern butterfly. Throws KeyError if no mask fits m, k and block.
Butterfly butterfly_of(const WeightOptions& weights);

/// Returns `weights`. Throws UserError, before anything is made, if X [k, n] and Y [m, n], or the
/// values of a seeded W, exceed the SRAM of all tiles.
const WeightOptions& fitting(const WeightOptions& weights, std::uint64_t n,
                             const MachineConfig& machine);

/// W with values from a file or seeded, rounded to dtype. Throws UserError naming the key or
/// file:line; a W with too many elements is refused before it is made. Its rows and columns are the
/// effective m and k.
BlockMatrix make_weights(const WeightOptions& weights);

}  // namespace tessera::sparse
