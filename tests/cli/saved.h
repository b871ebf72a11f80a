#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/data/numpy_file.h"
#include "tests/cli/command.h"

/// Reads the tensors that runs saved in result/tensors, as dense matrices.
namespace tessera::test {

struct Matrix {
  std::uint64_t rows, columns;
  std::vector<double> values;
  std::vector<bool> held = {};  ///< elements inside its stored blocks; empty: all

  [[nodiscard]] double at(std::uint64_t row, std::uint64_t column) const {
    return values.at(row * columns + column);
  }
  double& at(std::uint64_t row, std::uint64_t column) { return values.at(row * columns + column); }
};

inline data::NumpyArray saved(const CommandFolder& folder, const std::string& name) {
  return data::read_numpy(folder.path() / "result/tensors" / (name + ".npy"));
}

/// A matrix of part `part` of `parts`; the last extent is the columns, the others are the rows.
inline Matrix matrix(const CommandFolder& folder, const std::string& name, std::uint64_t part = 0,
                     std::uint64_t parts = 1) {
  const data::NumpyArray array = saved(folder, name);
  const std::uint64_t columns = array.shape.back(), size = array.values.size() / parts;
  const auto first = array.values.begin() + static_cast<std::ptrdiff_t>(part * size);
  return {size / columns, columns, {first, first + static_cast<std::ptrdiff_t>(size)}};
}

inline Matrix transposed(const Matrix& of) {
  Matrix made{of.columns, of.rows, std::vector<double>(of.values.size())};
  for (std::uint64_t i = 0; i < of.rows; ++i)
    for (std::uint64_t j = 0; j < of.columns; ++j) made.at(j, i) = of.at(i, j);
  return made;
}

/// Expands NAME.data, NAME.indices and NAME.indptr to a dense matrix, as scipy.sparse.bsr_matrix
/// does. The number of columns is rounded to whole blocks.
inline Matrix blocks(const CommandFolder& folder, const std::string& name) {
  const data::NumpyArray data = saved(folder, name + ".data");
  const std::vector<double> indices = saved(folder, name + ".indices").values;
  const std::vector<double> begins = saved(folder, name + ".indptr").values;
  const std::uint64_t side = data.shape.at(1);
  REQUIRE(!indices.empty());
  const auto last = static_cast<std::uint64_t>(*std::ranges::max_element(indices));
  Matrix made{(begins.size() - 1) * side, (last + 1) * side, {}};
  made.values.resize(made.rows * made.columns);
  made.held.resize(made.values.size());
  for (std::uint64_t block_row = 0; block_row + 1 < begins.size(); ++block_row)
    for (auto e = static_cast<std::uint64_t>(begins[block_row]);
         e < static_cast<std::uint64_t>(begins[block_row + 1]); ++e)
      for (std::uint64_t i = 0; i < side * side; ++i) {
        const std::uint64_t row = block_row * side + i / side;
        const std::uint64_t column = static_cast<std::uint64_t>(indices[e]) * side + i % side;
        made.at(row, column) = data.values[e * side * side + i];
        made.held[row * made.columns + column] = true;
      }
  return made;
}

/// Sums of products, and sums of the products' magnitudes.
struct Sums {
  Matrix value, size;
};

/// Multiplies `a` by `b`; the shorter inner extent is padded with zeros.
inline Sums product(const Sums& a, const Matrix& b) {
  Matrix none{a.value.rows, b.columns, std::vector<double>(a.value.rows * b.columns)};
  Sums made{none, none};
  for (std::uint64_t i = 0; i < a.value.rows; ++i)
    for (std::uint64_t j = 0; j < b.columns; ++j)
      for (std::uint64_t k = 0; k < std::min(a.value.columns, b.rows); ++k) {
        made.value.at(i, j) += a.value.at(i, k) * b.at(k, j);
        made.size.at(i, j) += a.size.at(i, k) * std::abs(b.at(k, j));
      }
  return made;
}

/// Adds a product of scalars and matrices such as 0.5 U V^T X; `read` returns a matrix by name.
template <class Read>
void add_product(std::istream& factors, const Read& read, Sums& sums) {
  std::optional<Sums> made;
  double scale = 1;
  for (std::string word; factors >> word && word != "+";) {
    if (std::isdigit(static_cast<unsigned char>(word.front())) != 0) {
      scale *= std::stod(word);
      continue;
    }
    const bool turned = word.ends_with("^T");
    Matrix factor = read(turned ? word.substr(0, word.size() - 2) : word);
    if (turned) factor = transposed(factor);
    if (made) {
      made = product(*made, factor);
    } else {
      made = Sums{factor, factor};
      for (double& each : made->size.values) each = std::abs(each);
    }
  }
  REQUIRE(made);
  for (const auto& [from, to] : {std::pair{&made->value, &sums.value}, {&made->size, &sums.size}}) {
    if (to->values.empty())
      *to = {from->rows, from->columns, std::vector(from->values.size(), 0.0)};
    for (std::size_t i = 0; i < to->values.size(); ++i) to->values[i] += scale * from->values.at(i);
  }
}

constexpr double kHalf = 0x1p-9;  ///< f16: a few roundings (relative) for each addend
constexpr double kSingle = 0x1p-20;

/// Returns "equal" if the saved tensor `name` is the sum of products `equation`, such as S X + U
/// V^T X, within a few roundings of its type for each addend (one rounding for integers); otherwise
/// the first difference. A tensor of rank 3 is one matrix for each index of its first extent; of a
/// tensor in blocks (NAME.data) only the stored blocks are compared.
inline std::string compare(const CommandFolder& folder, const std::string& name,
                           const std::string& equation) {
  const auto in_blocks = [&](const std::string& of) {
    return folder.has("result/tensors/" + of + ".data.npy");
  };
  const data::NumpyArray whole = saved(folder, in_blocks(name) ? name + ".data" : name);
  const double unit = whole.dtype == "<f2" ? kHalf : kSingle;
  const double once = whole.dtype == "<i2" ? 0.5 : 0;
  const std::uint64_t parts = whole.shape.size() == 3 && !in_blocks(name) ? whole.shape[0] : 1;
  for (std::uint64_t part = 0; part < parts; ++part) {
    const auto read = [&](const std::string& of) {
      return in_blocks(of) ? blocks(folder, of) : matrix(folder, of, part, parts);
    };
    Sums sums;
    for (std::istringstream words(equation); words;) add_product(words, read, sums);
    const Matrix found = read(name);
    for (std::size_t at = 0; at < found.values.size(); ++at) {
      const std::uint64_t i = at / found.columns, j = at % found.columns;
      const bool inside = i < sums.value.rows && j < sums.value.columns;
      if (!found.held.empty() && (!found.held[at] || !inside)) continue;
      if (!inside ||
          !(std::abs(found.values[at] - sums.value.at(i, j)) <= once + unit * sums.size.at(i, j)))
        return fmt::format("{}[{}, {}] = {}, expected {}", name, i, j, found.values[at],
                           inside ? sums.value.at(i, j) : std::nan(""));
    }
  }
  return "equal";
}

/// The config of a run of `workload` (keys of its section) that saves all tensors.
inline std::string tensors_config(const std::string& workload, int tiles = 8) {
  return fmt::format(R"({{"machine": {{"extends": "bow", "tiles": {}}}, "workload": {{{}}},
    "report": {{"tensors": "all"}}}})",
                     tiles, workload);
}

/// Runs the config `text` with its output in the folder `result`.
inline void run_saving(const CommandFolder& folder, const std::string& text,
                       const std::string& more = "") {
  folder.write("a.json", text);
  CAPTURE(text);
  folder.done("run a.json --out result " + more);
}

}  // namespace tessera::test
