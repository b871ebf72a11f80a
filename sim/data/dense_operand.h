#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/program/program.h"

namespace tessera::data {

/// A dense input matrix, of which any element can be had at any time: seeded, or read from a file.
class DenseOperand {
 public:
  /// Uniform in [-1, 1), exact in `type`; `stream` tells operands of one seed apart.
  DenseOperand(std::uint64_t rows, std::uint64_t columns, program::Type type, std::uint64_t seed,
               std::uint64_t stream);
  /// A .npy file of this shape, rounded to `type`. Throws KeyError naming workload.`key` for
  /// another shape, UserError for values beyond `type`.
  DenseOperand(std::uint64_t rows, std::uint64_t columns, program::Type type,
               const std::string& file, const std::string& key);

  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  [[nodiscard]] std::uint64_t columns() const { return columns_; }
  /// Exact in float; zero outside the matrix: padding.
  [[nodiscard]] double element(std::uint64_t row, std::uint64_t column) const;

 private:
  std::uint64_t rows_;
  std::uint64_t columns_;
  std::uint64_t seed_ = 0;
  std::uint64_t stream_ = 0;
  unsigned bits_ = 0;
  std::vector<float> values_;  ///< empty for seeded data
};

/// Random bits below the point of seeded values, which every element of `type` holds exactly.
constexpr unsigned seeded_bits(program::Type type) { return type == program::Type::f16 ? 10 : 23; }

}  // namespace tessera::data
