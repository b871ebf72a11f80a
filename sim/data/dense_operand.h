#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/data/seeded.h"
#include "sim/program/program.h"

namespace tessera::data {

/// A dense input matrix with random access to its elements: seeded, or read from a file.
class DenseOperand {
 public:
  /// Uniform in [-1, 1), exact in `type`; `stream` distinguishes operands of one seed.
  DenseOperand(std::uint64_t rows, std::uint64_t columns, program::Type type, std::uint64_t seed,
               std::uint64_t stream);
  /// Where elements come from: the .npy file that workload.`key` names, or a seed if `file` is
  /// empty. With `pairs` the file may instead hold columns / 2 complex numbers per row, read as
  /// interleaved real and imaginary parts.
  struct Source {
    std::string file;
    std::string key;
    std::uint64_t seed;
    std::uint64_t stream;
    bool pairs = false;
  };
  /// Rounds values to `type`. Throws KeyError naming the key for a file of another shape or of
  /// unexpected complex numbers, UserError for values beyond the range of `type`.
  DenseOperand(std::uint64_t rows, std::uint64_t columns, program::Type type, const Source& source);

  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  [[nodiscard]] std::uint64_t columns() const { return columns_; }
  /// Number of file values that changed when rounded to `type`.
  [[nodiscard]] std::uint64_t rounded() const { return rounded_; }
  /// The element, exact in float; zero outside the matrix (padding).
  [[nodiscard]] double element(std::uint64_t row, std::uint64_t column) const;
  /// Reads elements in row-major order, starting at element `first`.
  void read_elements(std::uint64_t first, std::span<float> into) const { read(first, 1, into); }
  /// Reads the first into.size() elements of a row or column; they must lie inside the matrix.
  void read_row(std::uint64_t row, std::span<float> into) const { read(row * columns_, 1, into); }
  void read_column(std::uint64_t column, std::span<float> into) const {
    read(column, columns_, into);
  }

 private:
  void read_file(program::Type type, const Source& source);
  void read(std::uint64_t first, std::uint64_t step, std::span<float> into) const;

  std::uint64_t rows_;
  std::uint64_t columns_;
  Seeded seeded_;
  std::vector<float> values_;  ///< empty for seeded data
  std::uint64_t rounded_ = 0;
};

/// The help text of an option that names such a file; `what` gives operand and shape.
std::string file_sentence(std::string_view what);

/// The operand as a host tensor, rounded to `type`; `is_complex`: columns are pairs of real and
/// imaginary parts. `operand` must outlive the tensor.
program::Tensor tensor_of(std::string name, const DenseOperand& operand, program::Type type,
                          bool is_complex = false);

}  // namespace tessera::data
