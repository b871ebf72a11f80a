#include "sim/data/dense_operand.h"

#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/data/element.h"
#include "sim/data/numpy_file.h"

namespace tessera::data {

DenseOperand::DenseOperand(std::uint64_t rows, std::uint64_t columns, program::Type type,
                           std::uint64_t seed, std::uint64_t stream)
    : rows_(rows), columns_(columns), seeded_{type, seed, stream} {}

DenseOperand::DenseOperand(std::uint64_t rows, std::uint64_t columns, program::Type type,
                           const Source& source)
    : DenseOperand(rows, columns, type, source.seed, source.stream) {
  if (!source.file.empty()) read_file(type, source);
}

void DenseOperand::read_file(program::Type type, const Source& source) {
  const std::string key = "workload." + source.key;
  NumpyArray array = read_numpy(source.file);
  if (!source.pairs && array.dtype.starts_with("<c"))
    throw KeyError(key, "found {} of complex numbers ({}), allowed real", source.file, array.dtype);
  const bool paired =
      source.pairs && array.shape == std::vector<std::uint64_t>{rows_, columns_ / 2, 2};
  if (!paired && array.shape != std::vector<std::uint64_t>{rows_, columns_}) {
    const std::string pairs =
        source.pairs ? fmt::format(", or [{}, {}] of complex numbers", rows_, columns_ / 2) : "";
    throw KeyError(key, "found {} of shape [{}], allowed [{}, {}]{}", source.file,
                   fmt::join(array.shape, ", "), rows_, columns_, pairs);
  }
  require_finite(array, type, source.file);
  rounded_ = round_all(type, array.values);
  values_.assign(array.values.begin(), array.values.end());
}

double DenseOperand::element(std::uint64_t row, std::uint64_t column) const {
  if (row >= rows_ || column >= columns_) return 0;
  const std::uint64_t place = row * columns_ + column;
  if (!values_.empty()) return static_cast<double>(values_[place]);
  return seeded_.element(place);
}

void DenseOperand::read(std::uint64_t first, std::uint64_t step, std::span<float> into) const {
  if (!values_.empty()) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = values_[first + i * step];
    return;
  }
  for (std::size_t i = 0; i < into.size(); ++i)
    into[i] = static_cast<float>(seeded_.element(first + i * step));
}

std::string file_sentence(std::string_view what) {
  return fmt::format(
      "{}, rounded to dtype (workload.rounded in the report); seeded values if not given", what);
}

program::Tensor tensor_of(std::string name, const DenseOperand& operand, program::Type type,
                          bool is_complex) {
  program::Tensor tensor{std::move(name), program::Role::input, type, {}, is_complex};
  tensor.shape = {operand.rows(), operand.columns()};
  if (is_complex) tensor.shape = {operand.rows(), operand.columns() / 2, 2};
  tensor.given = [&operand, type](std::uint64_t first, std::span<std::byte> into) {
    std::vector<float> values(into.size() / element_bytes(type));
    operand.read_elements(first, values);
    for (std::size_t i = 0; i < values.size(); ++i)
      store_element(type, into, i, static_cast<double>(values[i]));
  };
  return tensor;
}

}  // namespace tessera::data
