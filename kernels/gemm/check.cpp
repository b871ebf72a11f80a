#include "kernels/check/signs.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/panels.h"
#include "kernels/gemm/replay.h"
#include "sim/data/element.h"

namespace tessera::gemm {

namespace {

constexpr double kHalfSmallestF16 = 0x1p-25;
constexpr double kHalfSmallestF32 = 0x1p-150;

double half_smallest(Type type) { return type == Type::f16 ? kHalfSmallestF16 : kHalfSmallestF32; }

/// The operand, or its transpose, row after row.
std::vector<float> rows_of(const Operand& operand, bool across, HostThreads& threads) {
  const std::uint64_t rows = across ? operand.columns() : operand.rows();
  const std::uint64_t columns = across ? operand.rows() : operand.columns();
  std::vector<float> values(rows * columns);
  threads.for_ranges(rows, 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const auto into = std::span(values).subspan(row * columns, columns);
      across ? operand.read_column(row, into) : operand.read_row(row, into);
    }
  });
  return values;
}

/// Puts `count` elements of `bytes`, from number `at` on, into a row of Y; what is padding stays
/// out.
void copy_row(Type type, std::span<const std::byte> bytes, std::uint64_t at,
              const Geometry::YPlace& place, std::uint64_t count, Finished& product) {
  if (place.column >= product.columns) return;
  const std::uint64_t held = std::min(count, product.columns - place.column);
  const std::uint64_t first = place.row * product.columns + place.column;
  data::load_elements(type, bytes, at, std::span(product.y).subspan(first, held));
}

}  // namespace

Finished Gemm::finished(const MemoryReader& memory, HostThreads& threads) const {
  const Roles& its = geometry_.roles();
  const bool turned = geometry_.plan().stationary == Stationary::a;
  const Operand& x = turned ? b_ : a_;
  const Operand& w = turned ? a_ : b_;
  Finished product{its.rows, its.columns, its.depth, {}, {}, {}};
  product.x = rows_of(x, turned, threads);
  product.w = rows_of(w, turned, threads);
  product.y.resize(product.rows * product.columns);
  geometry_.natural() ? read_rows(memory, product) : read_blocks(memory, product);
  return product;
}

void Gemm::read_rows(const MemoryReader& memory, Finished& product) const {
  const RowMajor stored = RowMajor::of_result(geometry_, machine_.tiles);
  const Type type = geometry_.block().input;
  const std::uint64_t element = geometry_.block().input_bytes;
  const std::uint64_t pitch = stored.pitch() / element;
  std::vector<std::byte> bytes;
  for (std::uint32_t t = 0; t < machine_.tiles && stored.bytes_on(t) > 0; ++t) {
    bytes.resize(stored.bytes_on(t));
    memory.read({result_buffer(t)}, bytes);
    const std::uint64_t first = stored.begin(t) / element;
    const std::uint64_t end = first + bytes.size() / element;
    for (std::uint64_t at = first, next = 0; at < end; at = next) {
      next = std::min(end, (at / pitch + 1) * pitch);
      copy_row(type, bytes, at - first, {at / pitch, at % pitch}, next - at, product);
    }
  }
}

void Gemm::read_blocks(const MemoryReader& memory, Finished& product) const {
  const BlockShape& block = geometry_.block();
  std::vector<std::byte> bytes;
  for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
    const Cell cell = geometry_.cell(t);
    bytes.resize(geometry_.result_bytes(cell));
    if (bytes.empty()) continue;
    memory.read({result_buffer(t)}, bytes);
    const std::uint64_t first = geometry_.y_share(cell).begin / block.partial_bytes;
    const std::uint64_t end = first + bytes.size() / block.input_bytes;
    for (std::uint64_t at = first, next = 0; at < end; at = next) {
      next = std::min(end, (at / block.columns + 1) * block.columns);
      copy_row(block.input, bytes, at - first, geometry_.y_place(cell, at), next - at, product);
    }
  }
}

Rounding Gemm::rounding() const {
  const BlockShape& block = geometry_.block();
  const bool narrow = narrow_sums(block);
  const Type sums = narrow ? Type::f16 : Type::f32;
  return {data::unit_roundoff(sums),
          data::unit_roundoff(block.partial),
          block.partial == Type::f16 && !narrow,
          data::unit_roundoff(block.input),
          half_smallest(sums),
          half_smallest(block.partial),
          half_smallest(block.input),
          narrow ? 1 : block.depth,
          static_cast<double>(geometry_.plan().split_k)};
}

/// Every element in double, or sums of them; and either way a block a tile to the bit.
CheckResult Gemm::check(const TensorReader& tensors, const CheckRequest& request) const {
  const MemoryReader& memory = tensors.memory();
  if (request.mode == CheckMode::off) return {true, 0, 0, "off"};
  HostThreads threads(request.threads);
  const Finished product = finished(memory, threads);
  const Replay replay(geometry_, product);
  const BlockShape& block = geometry_.block();
  const auto exact = [&](std::uint64_t row, std::uint64_t column) {
    return replay.element(row, column);
  };
  kernels::Comparison comparison(
      {"C", block.input, block.partial, geometry_.plan().stationary == Stationary::a}, exact);
  compare_blocks(geometry_, product, rounding(), request.seed, threads, comparison);
  if (compares_all(request.mode, useful_flops())) {
    compare_all(product, rounding(), threads, comparison);
    return comparison.result("full");
  }
  const SumsFound sums = compare_sums(product, rounding(), request.seed, threads, comparison);
  CheckResult result = comparison.result("sample");
  result.max_error = std::max(result.max_error, sums.worst);
  result.threshold = sums.threshold;
  result.lone_threshold = sums.lone_threshold;
  result.missed_probability = kernels::SignVectors::kMissed;
  return result;
}

}  // namespace tessera::gemm
