#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/data/numpy_file.h"
#include "tests/cli/command.h"

/// Tensors that runs have left in result/tensors, as plain matrices.
namespace tessera::test {

struct Matrix {
  std::uint64_t rows, columns;
  std::vector<double> values;

  [[nodiscard]] double at(std::uint64_t row, std::uint64_t column) const {
    return values.at(row * columns + column);
  }
  double& at(std::uint64_t row, std::uint64_t column) { return values.at(row * columns + column); }
};

inline data::NumpyArray saved(const CommandFolder& folder, const std::string& name) {
  return data::read_numpy(folder.path() / "result/tensors" / (name + ".npy"));
}

/// The last extent are columns, all others rows.
inline Matrix matrix(const CommandFolder& folder, const std::string& name) {
  data::NumpyArray array = saved(folder, name);
  const std::uint64_t columns = array.shape.back();
  return {array.values.size() / columns, columns, std::move(array.values)};
}

inline Matrix transposed(const Matrix& of) {
  Matrix made{of.columns, of.rows, std::vector<double>(of.values.size())};
  for (std::uint64_t i = 0; i < of.rows; ++i)
    for (std::uint64_t j = 0; j < of.columns; ++j) made.at(j, i) = of.at(i, j);
  return made;
}

/// Expands NAME.data, NAME.indices and NAME.indptr as scipy.sparse.bsr_matrix does.
inline Matrix blocks(const CommandFolder& folder, const std::string& name, std::uint64_t rows,
                     std::uint64_t columns, const std::string& run = "") {
  const data::NumpyArray data = saved(folder, name + run + ".data");
  const std::vector<double> indices = saved(folder, name + run + ".indices").values;
  const std::vector<double> begins = saved(folder, name + run + ".indptr").values;
  const std::uint64_t side = data.shape.at(1);
  Matrix made{rows, columns, std::vector<double>(rows * columns)};
  for (std::uint64_t block_row = 0; block_row + 1 < begins.size(); ++block_row)
    for (auto e = static_cast<std::uint64_t>(begins[block_row]);
         e < static_cast<std::uint64_t>(begins[block_row + 1]); ++e)
      for (std::uint64_t i = 0; i < side * side; ++i) {
        const std::uint64_t row = block_row * side + i / side;
        const std::uint64_t column = static_cast<std::uint64_t>(indices[e]) * side + i % side;
        if (row < rows && column < columns) made.at(row, column) = data.values[e * side * side + i];
      }
  return made;
}

/// a b + c, and whether `found` is that but for roundings of `unit` for each of what is added up.
inline std::string compare(const Matrix& found, const Matrix& a, const Matrix& b, double unit,
                           const Matrix* c = nullptr) {
  if (found.rows != a.rows || found.columns != b.columns || a.columns != b.rows)
    return fmt::format("[{}, {}] of [{}, {}] [{}, {}]", found.rows, found.columns, a.rows,
                       a.columns, b.rows, b.columns);
  for (std::uint64_t i = 0; i < a.rows; ++i)
    for (std::uint64_t j = 0; j < b.columns; ++j) {
      double sum = c == nullptr ? 0 : c->at(i, j);
      double size = std::abs(sum);
      for (std::uint64_t k = 0; k < a.columns; ++k) {
        sum += a.at(i, k) * b.at(k, j);
        size += std::abs(a.at(i, k) * b.at(k, j));
      }
      if (!(std::abs(found.at(i, j) - sum) <= unit * size))
        return fmt::format("[{}, {}] = {}, expected {}", i, j, found.at(i, j), sum);
    }
  return "equal";
}

constexpr double kHalf = 0x1p-9;  ///< some roundings of f16, for each of what is added up
constexpr double kSingle = 0x1p-20;

/// A run of a workload, given by its keys, that saves all tensors.
inline std::string tensors_config(const std::string& workload, int tiles = 8) {
  return fmt::format(R"({{"machine": {{"extends": "bow", "tiles": {}}}, "workload": {{{}}},
    "report": {{"tensors": "all"}}}})",
                     tiles, workload);
}

/// Runs it into the folder `result`.
inline void run_saving(const CommandFolder& folder, const std::string& text,
                       const std::string& more = "") {
  folder.write("a.json", text);
  CAPTURE(text);
  folder.done("run a.json --out result " + more);
}

inline Matrix product(const Matrix& a, const Matrix& b) {
  Matrix made{a.rows, b.columns, std::vector<double>(a.rows * b.columns)};
  for (std::uint64_t i = 0; i < a.rows; ++i)
    for (std::uint64_t j = 0; j < b.columns; ++j)
      for (std::uint64_t k = 0; k < a.columns; ++k) made.at(i, j) += a.at(i, k) * b.at(k, j);
  return made;
}

/// How many elements of `found` are not zero; each of these must be as expected.
inline std::size_t compare_filled(const Matrix& found, const Matrix& expected) {
  std::size_t filled = 0;
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    if (found.values[i] == 0) continue;
    ++filled;
    CHECK(std::abs(found.values[i] - expected.values[i]) < 1e-4);
  }
  return filled;
}

}  // namespace tessera::test
