#include <algorithm>
#include <array>

#include "kernels/gemm/core_product.h"
#include "kernels/sparse/operand/sources.h"
#include "kernels/sparse/operand/weights.h"
#include "sim/base/errors.h"
#include "sim/data/element.h"
#include "sim/data/read_file.h"

namespace tessera::sparse {

namespace {

constexpr config::Names<Prune, 2> kPrunes{{{"none", Prune::none}, {"blocks", Prune::blocks}}};
constexpr config::Names<Pattern, 9> kPatterns{{{"uniform", Pattern::uniform},
                                               {"row_skewed", Pattern::row_skewed},
                                               {"n_of_m", Pattern::n_of_m},
                                               {"banded", Pattern::banded},
                                               {"tile_wise", Pattern::tile_wise},
                                               {"butterfly", Pattern::butterfly},
                                               {"poisson_2d", Pattern::poisson_2d},
                                               {"poisson_3d", Pattern::poisson_3d},
                                               {"rmat", Pattern::rmat}}};
constexpr std::array<std::uint32_t, 4> kBlocks{1, 4, 8, 16};
constexpr double kLeastDensity = 1e-15;  // below the density of one element in the largest W

/// Keys that only one pattern uses.
constexpr config::Names<Pattern, 8> kParameters{{{"skew", Pattern::row_skewed},
                                                 {"keep", Pattern::n_of_m},
                                                 {"group", Pattern::n_of_m},
                                                 {"bandwidth", Pattern::banded},
                                                 {"granularity", Pattern::tile_wise},
                                                 {"butterfly_size", Pattern::butterfly},
                                                 {"factors", Pattern::butterfly},
                                                 {"global", Pattern::butterfly}}};

std::string_view name_of(Pattern pattern) { return config::name_of(kPatterns, pattern); }

bool square(Pattern pattern) {
  return pattern == Pattern::poisson_2d || pattern == Pattern::poisson_3d ||
         pattern == Pattern::rmat;
}

void take_square_size(config::Fields& fields, WeightOptions& weights) {
  if (fields.given("m") && !fields.given("k")) weights.k = weights.m;
  if (fields.given("k") && !fields.given("m")) weights.m = weights.k;
  fields.require(weights.m == weights.k, "k", "found {}, allowed {} (m): pattern {} is square",
                 weights.k, weights.m, name_of(weights.pattern));
}

/// Throws for keys that exclude each other.
void require_use(config::Fields& fields, const WeightOptions& weights) {
  const bool from_file = !weights.matrix.empty();
  for (const auto& [key, pattern] : kParameters) {
    fields.require_read(
        pattern == weights.pattern && !from_file, key, "is used by pattern {} only, found {}",
        name_of(pattern),
        from_file ? "a matrix file" : fmt::format("pattern {}", name_of(weights.pattern)));
  }
  fields.require(weights.keep <= weights.group, "keep", "found {}, allowed 1 to {} (group)",
                 weights.keep, weights.group);
  fields.require(weights.prune == Prune::none || from_file, "prune",
                 "found blocks, allowed none without a matrix file");
}

void describe_pattern(config::Fields& fields, WeightOptions& weights) {
  fields.field({"pattern",
                "pattern of blocks in a seeded W; poisson_2d, poisson_3d and rmat are patterns of "
                "elements, and all blocks with any element are kept. Not used with a matrix file"},
               weights.pattern, kPatterns);
  fields.field(
      {"skew", "row_skewed: the row of rank r holds blocks in proportion to r^-skew, from rank 1"},
      weights.skew, {0.0, 8.0});
  fields.field({"keep", "n_of_m: blocks kept in every group of neighbours along k"}, weights.keep,
               {1, 1u << 24});
  fields.field({"group", "n_of_m: size of a group of neighbours along k", "blocks"}, weights.group,
               {1, 1u << 24});
  fields.field({"bandwidth", "banded: blocks kept on each side of the diagonal", "blocks"},
               weights.bandwidth, {0, 1u << 24});
  fields.field({"granularity",
                "tile_wise: number of consecutive rows of W (columns of its transpose) that keep "
                "the same columns",
                "elements"},
               weights.granularity, {1, 1u << 24});
  fields.field({"butterfly_size",
                "butterfly: rows and columns of the mask, a power of two; each entry covers as "
                "many elements of W; 0: one block per entry"},
               weights.butterfly_size, {0, 1u << 24});
  fields.field({"factors",
                "butterfly: number of factors, of strides 1, 2, 4, ...; the mask is the support of "
                "their sum; 0: all"},
               weights.factors, {0, 24});
  fields.field(
      {"global", "butterfly: first rows and first columns of W that are kept whole", "elements"},
      weights.global, {0, 1u << 24});
}

/// True if `density` determines W's number of blocks.
bool has_density(const WeightOptions& weights) {
  if (!weights.matrix.empty()) return weights.prune == Prune::blocks;
  return weights.pattern == Pattern::uniform || weights.pattern == Pattern::row_skewed ||
         weights.pattern == Pattern::tile_wise || weights.pattern == Pattern::rmat;
}

void describe_density(config::Fields& fields, WeightOptions& weights) {
  const char* const other = weights.matrix.empty() ? "pattern" : "matrix";
  fields.field({"density",
                "share of the blocks of W that is kept (above 0), for patterns uniform, row_skewed "
                "and tile_wise, and for pruning a matrix file; rmat: number of edges drawn, over m "
                "m. Rounded up to whole blocks: workload.kept_share in the report",
                "", false, has_density(weights) ? "" : other},
               weights.density, {kLeastDensity, 1.0});
}

}  // namespace

void take_file_size(config::Fields& fields, const std::string& file, SizeKey rows,
                    SizeKey columns) {
  data::MatrixSize size;
  try {
    size = matrix_file_size(file);
  } catch (const KeyError& error) {
    fields.require(false, "matrix", error.problem());
  }
  const auto take = [&](const SizeKey& of, std::string_view what, std::uint64_t actual) {
    fields.require(!fields.given(of.key) || of.value == actual, of.key,
                   "found {}, allowed {} (or no {}): the {} of {}", of.value, actual, of.key, what,
                   file);
    of.value = static_cast<std::uint32_t>(actual);
  };
  take(rows, "rows", size.rows);
  take(columns, "columns", size.columns);
}

void describe(config::Fields& fields, WeightOptions& weights, ElementTypes types) {
  constexpr config::Range<std::uint32_t> kSize{1, 1u << 24};
  fields.field({"m", "rows of W and Y; given by the matrix file if there is one"}, weights.m,
               kSize);
  fields.field({"k", "columns of W, rows of X; given by the matrix file if there is one"},
               weights.k, kSize);
  fields.field({"block", "side of the square blocks of W: 1, 4, 8 or 16", "elements"},
               weights.block, {1, 16});
  fields.require(std::find(kBlocks.begin(), kBlocks.end(), weights.block) != kBlocks.end(), "block",
                 "found {}, allowed 1, 4, 8, 16", weights.block);
  describe_pattern(fields, weights);
  fields.file({"matrix",
               "W from a file instead of a pattern: .mtx (Matrix Market), .smtx (a pattern of the "
               "Deep Learning Matrix Collection; seeded values) or .npy (nonzero elements); "
               "rounded to dtype, and workload.rounded in the report counts the changed values. "
               "Saved as W.data, W.indices and W.indptr, the arguments of scipy.sparse.bsr_matrix"},
              weights.matrix);
  fields.field({"prune",
                "blocks: keep those blocks of the file's matrix with the largest L2 norm, as many "
                "as `density` gives"},
               weights.prune, kPrunes);
  describe_density(fields, weights);
  if (types == ElementTypes::of_floats)
    fields.field({"dtype", "type of W, X and Y"}, weights.dtype, data::kFloatTypes);
  else
    fields.field({"dtype",
                  "type of W, X and Y: f16 or f32, except on arrays of cores with memory tiles; "
                  "i8, i16 or bf16 if the matrix unit supports them"},
                 weights.dtype, gemm::kElementTypes);
  fields.field({"seed", "seed of the pattern and the values"}, weights.seed);
  require_use(fields, weights);
  if (fields.given("matrix") && !weights.matrix.empty())
    take_file_size(fields, weights.matrix, {"m", weights.m}, {"k", weights.k});
  if (weights.matrix.empty() && square(weights.pattern)) take_square_size(fields, weights);
}

std::string problem_of(const WeightOptions& weights) {
  const bool file = !weights.matrix.empty();
  std::string text = fmt::format(
      "{}x{} {}", weights.m, weights.k,
      file ? data::file_name(weights.matrix) : config::name_of(kPatterns, weights.pattern));
  if (has_density(weights)) text += fmt::format(" {:g}", weights.density);
  text += fmt::format(" {}", config::name_of(gemm::kElementTypes, weights.dtype));
  return weights.block == 1 ? text : fmt::format("{}, blocks of {}", text, weights.block);
}

}  // namespace tessera::sparse
