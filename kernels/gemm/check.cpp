#include "kernels/gemm/gemm.h"
#include "kernels/gemm/panels.h"
#include "sim/data/element.h"

namespace tessera::gemm {

Matrix Gemm::read_result(const MemoryReader& memory) const {
  return geometry_.natural() ? read_rows(memory) : read_blocks(memory);
}

Matrix Gemm::read_rows(const MemoryReader& memory) const {
  const RowMajor stored = RowMajor::of_result(geometry_, machine_.tiles);
  const Product& p = options_.product;
  const Type type = geometry_.block().input;
  const std::uint64_t element = geometry_.block().input_bytes;
  const std::uint64_t pitch = stored.pitch() / element;
  Matrix c{p.m, p.n, std::vector<float>(std::size_t{p.m} * p.n)};
  std::vector<std::byte> bytes;
  for (std::uint32_t t = 0; t < machine_.tiles && stored.bytes_on(t) > 0; ++t) {
    bytes.resize(stored.bytes_on(t));
    memory.read({result_buffer(t)}, bytes);
    for (std::uint64_t i = 0; i < bytes.size() / element; ++i) {
      const std::uint64_t place = stored.begin(t) / element + i;
      if (place % pitch >= p.n) continue;
      c.values[place / pitch * p.n + place % pitch] =
          static_cast<float>(data::load_element(type, bytes, i));
    }
  }
  return c;
}

Matrix Gemm::read_blocks(const MemoryReader& memory) const {
  const BlockShape& block = geometry_.block();
  const bool transposed = geometry_.plan().stationary == Stationary::a;
  const Product& p = options_.product;
  Matrix c{p.m, p.n, std::vector<float>(std::size_t{p.m} * p.n)};
  std::vector<std::byte> bytes;
  for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
    const Cell cell = geometry_.cell(t);
    bytes.resize(geometry_.result_bytes(cell));
    if (bytes.empty()) continue;
    memory.read({result_buffer(t)}, bytes);
    const Interval rows = geometry_.rows(cell.row);
    const std::uint64_t first_column = geometry_.column_blocks(cell.column).begin * block.columns;
    const std::uint64_t first = geometry_.y_share(cell).begin / block.partial_bytes;
    for (std::uint64_t i = 0; i < bytes.size() / block.input_bytes; ++i) {
      const std::uint64_t vector = (first + i) / block.columns;
      const std::uint64_t row = rows.begin + vector % rows.size();
      const std::uint64_t column =
          first_column + vector / rows.size() * block.columns + (first + i) % block.columns;
      if (column >= geometry_.roles().columns) continue;
      const std::uint64_t place = transposed ? column * p.n + row : row * p.n + column;
      c.values[place] = static_cast<float>(data::load_element(block.input, bytes, i));
    }
  }
  return c;
}

CheckResult Gemm::check(const MemoryReader& memory, CheckMode mode) const {
  if (mode == CheckMode::off) return {true, 0, 0, "off"};
  const BlockShape& block = geometry_.block();
  const bool half = block.partial == Type::f16;
  // Packed f16 arithmetic rounds every sum to f16, and what is stored no more.
  const bool narrow = half && !block.on_unit();
  const Rounding rounding{data::unit_roundoff(narrow ? Type::f16 : Type::f32),
                          data::unit_roundoff(block.partial),
                          narrow ? 1 : block.depth,
                          half && !narrow,
                          data::unit_roundoff(block.input),
                          half ? 0x1p-25 : 0x1p-150,
                          static_cast<double>(geometry_.plan().split_k)};
  const bool full = compares_all(mode, useful_flops());
  return compare(read_result(memory), a_, b_, rounding, options_.seed, full);
}

}  // namespace tessera::gemm
