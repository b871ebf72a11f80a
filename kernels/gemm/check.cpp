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

}  // namespace

Finished Gemm::finished(const TensorReader& tensors, HostThreads& threads) const {
  const Roles& its = geometry_.roles();
  const bool turned = geometry_.plan().stationary == Stationary::a;
  return {its.rows,
          its.columns,
          its.depth,
          rows_of(turned ? b_ : a_, turned, threads),
          rows_of(turned ? a_ : b_, turned, threads),
          tensors.floats("C", threads,
                         turned ? TensorReader::Order::transposed : TensorReader::Order::rows)};
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
  if (request.mode == CheckMode::off) return {true, 0, 0, "off"};
  HostThreads threads(request.threads);
  const Finished product = finished(tensors, threads);
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
