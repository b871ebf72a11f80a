#include <algorithm>
#include <utility>

#include "kernels/check/check.h"
#include "kernels/gemm/vector_product.h"

namespace tessera::gemm {
namespace {

/// Computes the expected row of C from a row of A and all of B (row-major), in plain loops.
struct PlainProduct {
  const VectorType* type;
  std::uint32_t depth, columns;
  std::uint32_t shift;
  std::uint32_t step;      ///< terms after which sums are rounded to results; 0: only at the end
  std::uint32_t part = 0;  ///< bf16: terms per partial sum; partial sums are then added; 0: one sum

  /// A row of integers; Sum: i32 (wraps) or i64.
  template <class Sum>
  void row(std::span<const std::int16_t> a, std::span<const std::int16_t> b,
           std::span<double> c) const {
    using Wrapping = std::make_unsigned_t<Sum>;
    const std::int64_t most = type->most();
    std::vector<Sum> sums(columns);
    const auto end = [&](bool goes_on) {
      for (std::uint32_t j = 0; j < columns; ++j) {
        const std::int64_t result =
            std::clamp(shifted(static_cast<std::int64_t>(sums[j]), shift), -most - 1, most);
        c[j] = static_cast<double>(result);
        if (goes_on)
          sums[j] = static_cast<Sum>(static_cast<Wrapping>(static_cast<Sum>(result)) << shift);
      }
    };
    for (std::uint32_t i = 0; i < depth; ++i) {
      const std::int16_t* const terms = b.data() + std::size_t{i} * columns;
      const auto factor = static_cast<Sum>(a[i]);
      for (std::uint32_t j = 0; j < columns; ++j)
        sums[j] = static_cast<Sum>(static_cast<Wrapping>(sums[j]) +
                                   static_cast<Wrapping>(factor * static_cast<Sum>(terms[j])));
      if (step > 0 && (i + 1) % step == 0) end(true);
    }
    end(false);
  }
  /// A row of bf16: each product is rounded to f32, and each sum.
  void row(std::span<const float> a, std::span<const float> b, std::span<double> c) const {
    std::vector<float> sums(columns), before;
    const auto end_part = [&](std::vector<float> next) {
      for (std::size_t j = 0; j < before.size(); ++j) sums[j] = before[j] + sums[j];
      before = std::exchange(sums, std::move(next));
    };
    for (std::uint32_t i = 0; i < depth; ++i) {
      if (part > 0 && i > 0 && i % part == 0) end_part(std::vector<float>(columns));
      const float* const terms = b.data() + std::size_t{i} * columns;
      for (std::uint32_t j = 0; j < columns; ++j) sums[j] += a[i] * terms[j];
      if (step == 0 || (i + 1) % step != 0) continue;
      for (float& sum : sums) sum = nearest_bf16(sum);
    }
    end_part({});
    for (std::uint32_t j = 0; j < columns; ++j) c[j] = static_cast<double>(nearest_bf16(before[j]));
  }
};

void read(const RowReader& reader, std::uint32_t row, std::span<float> into) { reader(row, into); }
void read(const RowReader& reader, std::uint32_t row, std::span<std::int16_t> into) {
  std::vector<float> numbers(into.size());
  reader(row, numbers);
  std::ranges::transform(numbers, into.begin(),
                         [](float number) { return static_cast<std::int16_t>(number); });
}

/// Compares C with the rows that `plain` computes from rows of A and all of B.
template <class Number, class Plain>
CheckResult compared(const VectorProduct& of, const RowReader& b_rows, const TensorReader& tensors,
                     const CheckRequest& request, const Plain& plain) {
  constexpr std::uint64_t kSampled = 64;
  constexpr std::uint64_t kStream = 7;
  const Product& p = of.product;
  const VectorType& type = *of.grid.type;
  const bool transposed = of.names.transposed;
  HostThreads threads(request.threads);
  const std::vector<std::byte> found = tensors.bytes(of.names.c, threads);
  std::vector<Number> b(std::size_t{p.k} * p.n);
  threads.for_ranges(p.k, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row)
      read(b_rows, static_cast<std::uint32_t>(row), std::span(b).subspan(row * p.n, p.n));
  });
  kernels::Checked checked{{of.names.c, type.type}};
  checked.flops = std::uint64_t{2} * p.m * p.n * p.k;
  checked.lines = p.m;
  checked.sample =
      kernels::sample_lines(p.m, std::max<std::uint64_t>(1, p.m / kSampled), request.seed, kStream);
  checked.compare = [&](std::span<const kernels::Strip> rows, kernels::Comparison& into) {
    std::vector<Number> a(p.k);
    std::vector<double> expected(p.n);
    for (const auto& [line, along] : rows) {
      of.a.read(static_cast<std::uint32_t>(line), std::span(a));
      plain(std::span<const Number>(a), std::span<const Number>(b), std::span(expected));
      for (std::uint64_t j = 0; j < p.n; ++j) {
        const auto [row, column] = transposed ? std::pair(j, line) : std::pair(line, j);
        const std::uint64_t at = row * (transposed ? p.m : p.n) + column;
        into.add({row, column, number_of(type, found.data() + at * type.bytes), expected[j], 0});
      }
    }
  };
  return kernels::check(checked, request, threads);
}

}  // namespace

CheckResult VectorWorkload::check(const TensorReader& tensors, const CheckRequest& request) const {
  const VectorProduct& of = product_;
  const RowReader b = b_();
  const PlainProduct plain{of.grid.type,
                           of.product.k,
                           of.product.n,
                           of.shift,
                           of.grid.plan.whole_sums ? 0 : of.grid.plan.depth,
                           of.grid.parts > 1 ? of.grid.k / of.grid.parts : 0};
  if (of.grid.type->is_float())
    return compared<float>(of, b, tensors, request,
                           [&](auto x, auto w, auto y) { plain.row(x, w, y); });
  if (of.grid.type->bytes == 1)
    return compared<std::int16_t>(
        of, b, tensors, request, [&](auto x, auto w, auto y) { plain.row<std::int32_t>(x, w, y); });
  return compared<std::int16_t>(of, b, tensors, request,
                                [&](auto x, auto w, auto y) { plain.row<std::int64_t>(x, w, y); });
}

}  // namespace tessera::gemm
