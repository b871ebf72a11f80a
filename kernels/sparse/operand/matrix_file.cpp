#include <cmath>
#include <filesystem>

#include <fmt/ranges.h>

#include "kernels/sparse/operand/sources.h"
#include "sim/base/errors.h"
#include "sim/data/element.h"
#include "sim/data/matrix_market.h"
#include "sim/data/numpy_file.h"
#include "sim/data/smtx_file.h"

namespace tessera::sparse {

namespace {

data::MatrixSize numpy_size(const std::filesystem::path& file) {
  const std::vector<std::uint64_t> shape = data::numpy_shape(file);
  if (shape.size() == 2) return {shape[0], shape[1]};
  throw UserError("{}: found an array of shape [{}], allowed two dimensions", file.string(),
                  fmt::join(shape, ", "));
}

data::SparseMatrix read_dense(const WeightOptions& weights) {
  const data::NumpyArray array = data::read_numpy(weights.matrix);
  data::require_finite(array, weights.dtype, weights.matrix);
  data::SparseMatrix w{static_cast<std::uint32_t>(array.shape[0]),
                       static_cast<std::uint32_t>(array.shape[1]),
                       {0},
                       {},
                       {}};
  for (std::size_t i = 0; i < w.rows; ++i) {
    for (std::uint32_t j = 0; j < w.columns; ++j) {
      const double value = array.values[i * w.columns + j];
      if (value == 0) continue;
      w.column.push_back(j);
      w.value.push_back(value);
    }
    w.row_begin.push_back(w.column.size());
  }
  return w;
}

data::SparseMatrix read_pattern(const WeightOptions& weights) {
  data::SparseMatrix w = data::read_smtx(weights.matrix);
  fill_seeded(w, weights);
  return w;
}

data::SparseMatrix read_market(const WeightOptions& weights) {
  return data::read_matrix_market(weights.matrix);
}

/// Functions that read files of one ending.
struct Format {
  std::string_view ending;
  data::MatrixSize (*size)(const std::filesystem::path& file);
  data::SparseMatrix (*read)(const WeightOptions& weights);
};
constexpr Format kFormats[] = {{".mtx", data::matrix_market_size, read_market},
                               {".smtx", data::smtx_size, read_pattern},
                               {".npy", numpy_size, read_dense}};

const Format& format_of(const std::string& file) {
  const std::string ending = std::filesystem::path(file).extension().string();
  for (const Format& format : kFormats)
    if (format.ending == ending) return format;
  throw KeyError("workload.matrix", "found {}, allowed a .mtx, .smtx or .npy file", file);
}

}  // namespace

data::MatrixSize matrix_file_size(const std::string& file) {
  const data::MatrixSize size = format_of(file).size(file);
  constexpr std::uint64_t kMost = 1u << 24;  // the limit of workload.m and workload.k
  if (size.rows == 0 || size.columns == 0 || size.rows > kMost || size.columns > kMost) {
    throw UserError("{}: found a matrix of {} x {}, allowed from 1 x 1 to {} x {}", file, size.rows,
                    size.columns, kMost, kMost);
  }
  return size;
}

data::SparseMatrix read_matrix_file(const WeightOptions& weights) {
  matrix_file_size(weights.matrix);
  data::SparseMatrix w = format_of(weights.matrix).read(weights);
  const double largest = data::largest_finite(weights.dtype);
  for (const double value : w.value) {
    if (!(std::abs(value) <= largest)) {
      throw UserError("{}: the value {} is outside workload.dtype, allowed up to {}{}",
                      weights.matrix, value, largest,
                      weights.dtype == program::Type::f16 ? "; f32 holds more" : "");
    }
  }
  w.rounded = data::round_all(weights.dtype, w.value);
  return w;
}

}  // namespace tessera::sparse
