#include <bit>
#include <cstring>
#include <numeric>

#include "kernels/check/check.h"
#include "kernels/check/comparison.h"
#include "kernels/gemm/vector_product.h"

namespace tessera::gemm {
namespace {

/// Where all are compared all rows, else some.
std::vector<std::uint64_t> rows_to_compare(const Product& product, const CheckRequest& request) {
  constexpr std::uint64_t kSampled = 64;
  constexpr std::uint64_t kStream = 7;
  std::vector<std::uint64_t> rows(product.m);
  std::iota(rows.begin(), rows.end(), std::uint64_t{0});
  const std::uint64_t work = std::uint64_t{2} * product.m * product.n * product.k;
  if (compares_all(request.mode, work)) return rows;
  return kernels::sample_lines(product.m, std::max<std::uint64_t>(1, product.m / kSampled),
                               request.seed, kStream);
}

void read(const RowReader& reader, std::uint32_t row, std::span<float> into) { reader(row, into); }
void read(const RowReader& reader, std::uint32_t row, std::span<std::int16_t> into) {
  std::vector<float> numbers(into.size());
  reader(row, numbers);
  std::ranges::transform(numbers, into.begin(),
                         [](float number) { return static_cast<std::int16_t>(number); });
}

template <class Number, class Row>
void compare(const VectorProduct& of, const RowReader& b_rows, const TensorReader& tensors,
             std::span<const std::uint64_t> rows, HostThreads& threads, const Row& plain,
             kernels::Comparison& into) {
  const Product& p = of.product;
  const VectorType& type = *of.grid.type;
  const bool transposed = of.names.transposed;
  const std::vector<std::byte> found = tensors.bytes(of.names.c, threads);
  std::vector<Number> b(std::size_t{p.k} * p.n);
  threads.for_ranges(p.k, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row)
      read(b_rows, static_cast<std::uint32_t>(row), std::span(b).subspan(row * p.n, p.n));
  });
  into.add_all(
      rows.size(), 1, threads, [&](std::size_t begin, std::size_t end, kernels::Comparison& part) {
        std::vector<Number> a(p.k);
        std::vector<double> expected(p.n);
        for (std::size_t i = begin; i < end; ++i) {
          of.a.read(static_cast<std::uint32_t>(rows[i]), std::span(a));
          plain(std::span<const Number>(a), std::span<const Number>(b), std::span(expected));
          for (std::uint64_t j = 0; j < p.n; ++j) {
            const std::uint64_t at = transposed ? j * p.m + rows[i] : rows[i] * p.n + j;
            const double number = number_of(type, found.data() + at * type.bytes);
            const auto [row, column] = transposed ? std::pair(j, rows[i]) : std::pair(rows[i], j);
            part.add({row, column, number, expected[j], 0});
          }
        }
      });
}

}  // namespace

CheckResult VectorWorkload::check(const TensorReader& tensors, const CheckRequest& request) const {
  const VectorProduct& of = product_;
  const RowReader b = b_();
  const VectorType& type = *of.grid.type;
  const std::vector<std::uint64_t> rows = rows_to_compare(of.product, request);
  HostThreads threads(request.threads);
  const PlainProduct plain{&type,
                           of.product.k,
                           of.product.n,
                           of.shift,
                           of.grid.plan.whole_sums ? 0 : of.grid.plan.depth,
                           of.grid.parts > 1 ? of.grid.k / of.grid.parts : 0};
  kernels::Comparison comparison({of.names.c, type.type});
  using Shorts = std::span<const std::int16_t>;
  using Floats = std::span<const float>;
  using Results = std::span<double>;
  const auto in_floats = [&](Floats x, Floats w, Results y) { plain.row(x, w, y); };
  const auto in_words = [&](Shorts x, Shorts w, Results y) { plain.row<std::int32_t>(x, w, y); };
  const auto in_longs = [&](Shorts x, Shorts w, Results y) { plain.row<std::int64_t>(x, w, y); };
  if (type.is_float())
    compare<float>(of, b, tensors, rows, threads, in_floats, comparison);
  else if (type.bytes == 1)
    compare<std::int16_t>(of, b, tensors, rows, threads, in_words, comparison);
  else
    compare<std::int16_t>(of, b, tensors, rows, threads, in_longs, comparison);
  return comparison.result(rows.size() == of.product.m ? "full" : "sample");
}

}  // namespace tessera::gemm
