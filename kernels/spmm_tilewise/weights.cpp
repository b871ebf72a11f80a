#include "kernels/spmm_tilewise/weights.h"

#include "kernels/sparse/operand/sources.h"
#include "sim/base/errors.h"
#include "sim/data/dense_operand.h"
#include "sim/data/element.h"
#include "sim/data/read_file.h"

namespace tessera::spmm_tilewise {

namespace {

constexpr config::Names<Method, 3> kMethods{
    {{"tw_1d", Method::tw_1d}, {"tw_2d", Method::tw_2d}, {"tew", Method::tew}}};
constexpr config::Names<Ranking, 2> kRankings{
    {{"global", Ranking::global}, {"tile", Ranking::tile}}};
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 28;  // a gigabyte of values on the host

constexpr double kWhole = 1 + 1e-9;  // the sum of two shares that are 1 but for their rounding

void describe_pruning(config::Fields& fields, Pruning& pruning) {
  fields.field({"method",
                "tw_1d: rows of tiles of columns are pruned; tw_2d: "
                "whole columns, then rows of "
                "tiles of those left; tew: tw_2d of more, then "
                "single elements are given back"},
               pruning.method, kMethods);
  fields.field({"sparsity",
                "share of the elements of W that is pruned, as near as whole rows of tiles allow: "
                "workload.pruned in the report says what was reached"},
               pruning.sparsity, {0.0, 1.0});
  fields.field({"granularity", "columns of a tile; the last may have fewer"}, pruning.granularity,
               {1, 1u << 24});
  fields.field(
      {"ranking",
       "rows of tiles are ranked over all tiles (global: sparsity is rounded to a row of "
       "a tile), or in each (tile: all keep as many, sparsity is rounded to a row of all)"},
      pruning.ranking, kRankings);
  fields.field(
      {"overlay", "tew: share of W that is given back as single elements; at most 1 - sparsity"},
      pruning.overlay, {0.0, 1.0});
  fields.require(!fields.given("overlay") || pruning.method == Method::tew, "overlay",
                 "is used by method tew only");
  fields.require(!fields.given("overlay") || pruning.overlay + pruning.sparsity <= kWhole,
                 "overlay",
                 fmt::format("found {}, allowed up to {:.6g}: 1 - sparsity", pruning.overlay,
                             1 - pruning.sparsity));
}

DenseWeights from_file(const WeightOptions& weights) {
  sparse::WeightOptions file;
  file.matrix = weights.matrix;
  file.dtype = weights.dtype;
  file.seed = weights.seed;
  const data::SparseMatrix given = sparse::read_matrix_file(file);
  DenseWeights w{given.rows, given.columns, {}, given.rounded};
  w.value.resize(std::size_t{w.rows} * w.columns);
  for (std::uint32_t row = 0; row < w.rows; ++row) {
    for (std::uint64_t e = given.row_begin[row]; e < given.row_begin[row + 1]; ++e) {
      w.value[std::size_t{row} * w.columns + given.column[e]] = static_cast<float>(given.value[e]);
    }
  }
  return w;
}

DenseWeights seeded(const WeightOptions& weights) {
  sparse::WeightOptions values;
  values.dtype = weights.dtype;
  values.seed = weights.seed;
  DenseWeights w{weights.k, weights.n, {}};
  w.value.reserve(std::size_t{w.rows} * w.columns);
  for (std::uint32_t row = 0; row < w.rows; ++row) {
    for (std::uint32_t column = 0; column < w.columns; ++column) {
      const double scale = 1 + weights.spread * column / w.columns;
      const double value = sparse::seeded_value(values, row, column, w.columns) * scale;
      w.value.push_back(static_cast<float>(data::rounded(weights.dtype, value)));
    }
  }
  return w;
}

}  // namespace

void describe(config::Fields& fields, WeightOptions& weights) {
  constexpr config::Range<std::uint32_t> kSize{1, 1u << 24};
  fields.field({"k", "rows of W, columns of A; the matrix file's when one is given"}, weights.k,
               kSize);
  fields.field({"n", "columns of W and C; the matrix file's when one is given"}, weights.n, kSize);
  fields.file({"matrix",
               "the dense W[k, n] that is pruned, from a .npy file "
               "(.mtx and .smtx: zeros filled in), rounded to dtype (workload.rounded in the "
               "report); seeded values if not given. Saved as W after pruning, with zeros"},
              weights.matrix);
  fields.field({"spread",
                "column j of a seeded W is scaled by 1 + spread j / "
                "n, so that a global ranking "
                "keeps more rows in later tiles"},
               weights.spread, {0.0, 1000.0});
  fields.require(!fields.given("spread") || weights.matrix.empty(), "spread",
                 fmt::format("found {}, which nothing reads with a matrix file", weights.spread));
  describe_pruning(fields, weights.pruning);
  fields.field({"dtype", "type of A, W and C"}, weights.dtype, data::kFloatTypes);
  fields.field({"seed", "of the values"}, weights.seed);
  if (fields.given("matrix") && !weights.matrix.empty())
    sparse::take_file_size(fields, weights.matrix, {"k", weights.k}, {"n", weights.n});
}

std::string problem_of(const WeightOptions& weights) {
  const Pruning& pruning = weights.pruning;
  const std::string file = weights.matrix.empty() ? "" : " " + data::file_name(weights.matrix);
  return fmt::format("{}x{}{} {} {:g} {}", weights.n, weights.k, file,
                     config::name_of(kMethods, pruning.method), pruning.sparsity,
                     config::name_of(data::kFloatTypes, weights.dtype));
}

DenseWeights make_weights(const WeightOptions& weights) {
  if (std::uint64_t{weights.k} * weights.n > kMostElements) {
    throw UserError(
        fmt::format("workload: found a dense W of {} x {}, {} elements, allowed up to {}",
                    weights.k, weights.n, std::uint64_t{weights.k} * weights.n, kMostElements));
  }
  return weights.matrix.empty() ? seeded(weights) : from_file(weights);
}

}  // namespace tessera::spmm_tilewise
