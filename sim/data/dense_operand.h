#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/data/seeded.h"
#include "sim/program/program.h"

namespace tessera::data {

/// A dense input matrix, of which any element can be had at any time: seeded, or read from a file.
class DenseOperand {
 public:
  /// Uniform in [-1, 1), exact in `type`; `stream` tells operands of one seed apart.
  DenseOperand(std::uint64_t rows, std::uint64_t columns, program::Type type, std::uint64_t seed,
               std::uint64_t stream);
  /// Where elements come from: a .npy file, which workload.`key` names, or a seed if `file` is
  /// empty. With `pairs` the file may hold half as many columns of complex numbers, whose parts lie
  /// side by side.
  struct Source {
    std::string file;
    std::string key;
    std::uint64_t seed;
    std::uint64_t stream;
    bool pairs = false;
  };
  /// Rounded to `type`. Throws KeyError naming the key for a file of another shape or of complex
  /// numbers where none belong, UserError for values beyond `type`.
  DenseOperand(std::uint64_t rows, std::uint64_t columns, program::Type type, const Source& source);

  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  [[nodiscard]] std::uint64_t columns() const { return columns_; }
  /// Values of the file that are none of `type`.
  [[nodiscard]] std::uint64_t rounded() const { return rounded_; }
  /// Exact in float; zero outside the matrix: padding.
  [[nodiscard]] double element(std::uint64_t row, std::uint64_t column) const;
  /// Elements from number `first` on, row after row.
  void read_elements(std::uint64_t first, std::span<float> into) const { read(first, 1, into); }
  /// The first elements of a row or column inside the matrix.
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

/// The sentence of an option that names such a file, after `what`, which it is and of what shape.
std::string file_sentence(std::string_view what);

/// The operand as a tensor of the host's, rounded to `type`; `complex`: columns are pairs of real
/// and imaginary parts. It outlives the tensor.
program::Tensor tensor_of(std::string name, const DenseOperand& operand, program::Type type,
                          bool is_complex = false);

}  // namespace tessera::data
