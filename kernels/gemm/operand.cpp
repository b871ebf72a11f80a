#include "kernels/gemm/operand.h"

#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/data/element.h"
#include "sim/data/numpy_file.h"
#include "sim/data/random.h"

namespace tessera::gemm {

namespace {

// Random bits below the point that each type holds exactly.
constexpr unsigned kHalfBits = 10;
constexpr unsigned kSingleBits = 23;

}  // namespace

Operand::Operand(std::uint64_t rows, std::uint64_t columns, program::Type type, std::uint64_t seed,
                 std::uint64_t stream)
    : rows_(rows),
      columns_(columns),
      seed_(seed),
      stream_(stream),
      bits_(type == program::Type::f16 ? kHalfBits : kSingleBits) {}

Operand::Operand(std::uint64_t rows, std::uint64_t columns, program::Type type,
                 const std::string& file, const std::string& key)
    : rows_(rows), columns_(columns) {
  const data::NumpyArray array = data::read_numpy(file);
  if (array.shape != std::vector<std::uint64_t>{rows, columns}) {
    throw ConfigError("workload", key,
                      fmt::format("found {} of shape [{}], allowed [{}, {}]", file,
                                  fmt::join(array.shape, ", "), rows, columns));
  }
  values_.reserve(array.values.size());
  for (const double value : array.values) {
    values_.push_back(static_cast<float>(data::rounded(type, value)));
  }
}

float Operand::at(std::uint64_t row, std::uint64_t column) const {
  if (row >= rows_ || column >= columns_) return 0;
  const std::uint64_t place = row * columns_ + column;
  if (!values_.empty()) return values_[place];
  return data::random_signed(seed_, stream_, place, bits_);
}

}  // namespace tessera::gemm
