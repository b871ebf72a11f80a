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

enum class Format : std::uint8_t { matrix_market, smtx, numpy };

Format format_of(const std::string& file) {
  const std::string ending = std::filesystem::path(file).extension().string();
  if (ending == ".mtx") return Format::matrix_market;
  if (ending == ".smtx") return Format::smtx;
  if (ending == ".npy") return Format::numpy;
  throw KeyError("workload.matrix",
                 fmt::format("found {}, allowed a .mtx, .smtx or .npy file", file));
}

data::MatrixSize header_size(const std::string& file) {
  switch (format_of(file)) {
    case Format::matrix_market:
      return data::matrix_market_size(file);
    case Format::smtx:
      return data::smtx_size(file);
    case Format::numpy:
      break;
  }
  const std::vector<std::uint64_t> shape = data::numpy_shape(file);
  if (shape.size() == 2) return {shape[0], shape[1]};
  throw UserError(fmt::format("{}: found an array of shape [{}], allowed two dimensions", file,
                              fmt::join(shape, ", ")));
}

data::SparseMatrix read_dense(const std::string& file, program::Type dtype) {
  const data::NumpyArray array = data::read_numpy(file);
  data::require_finite(array, dtype, file);
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

data::SparseMatrix read(const WeightOptions& weights) {
  switch (format_of(weights.matrix)) {
    case Format::matrix_market:
      return data::read_matrix_market(weights.matrix);
    case Format::smtx:
      return read_pattern(weights);
    case Format::numpy:
      break;
  }
  return read_dense(weights.matrix, weights.dtype);
}

}  // namespace

data::MatrixSize matrix_file_size(const std::string& file) {
  const data::MatrixSize size = header_size(file);
  constexpr std::uint64_t kMost = 1u << 24;  // as workload.m and workload.k
  if (size.rows == 0 || size.columns == 0 || size.rows > kMost || size.columns > kMost) {
    throw UserError(fmt::format("{}: found a matrix of {} x {}, allowed from 1 x 1 to {} x {}",
                                file, size.rows, size.columns, kMost, kMost));
  }
  return size;
}

data::SparseMatrix read_matrix_file(const WeightOptions& weights) {
  matrix_file_size(weights.matrix);
  data::SparseMatrix w = read(weights);
  const double largest = data::largest_finite(weights.dtype);
  for (const double value : w.value) {
    if (!(std::abs(value) <= largest)) {
      throw UserError(fmt::format("{}: the value {} is outside workload.dtype, allowed up to {}",
                                  weights.matrix, value, largest));
    }
  }
  w.rounded = data::round_all(weights.dtype, w.value);
  return w;
}

}  // namespace tessera::sparse
