#include "kernels/gemm/array_gemm.h"

#include <bit>
#include <cstring>
#include <numeric>

#include "kernels/check/check.h"
#include "kernels/check/comparison.h"
#include "sim/base/errors.h"
#include "sim/config/writers.h"

namespace tessera::gemm {
namespace {

const VectorType& type_of(const Options& options) { return *vector_type(options.dtype); }

std::uint32_t largest_of(const Options& options) {
  return largest_for(type_of(options), options.product.k, options.shift);
}

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

/// An element of C as it lies in memory.
double number_of(const VectorType& type, const std::byte* at) {
  std::int16_t bits = 0;
  std::memcpy(&bits, at, type.bytes);
  if (type.is_float())
    return static_cast<double>(
        std::bit_cast<float>(static_cast<std::uint32_t>(static_cast<std::uint16_t>(bits)) << 16));
  return type.bytes == 1 ? static_cast<std::int8_t>(bits) : bits;
}

}  // namespace

ArrayGemm::ArrayGemm(const Options& options, MachineCosts& costs)
    : options_(options),
      type_(type_of(options)),
      chosen_(array_plan(options.array.value_or(ArrayPlan{}), options.product, type_, costs)),
      a_(type_, options.product.k, largest_of(options), options.seed, 0),
      b_(type_, options.product.n, largest_of(options), options.seed, 1),
      product_{options.product,
               ArrayGrid(options.product, type_, chosen_.plan),
               array_of(costs.machine(), type_),
               options.shift,
               [this](std::uint32_t row, std::span<std::byte> into) { a_.write(row, into); },
               [this](std::uint32_t row, std::span<std::byte> into) { b_.write(row, into); }} {
  const Product& p = options.product;
  WorkloadSummary summary;
  summary.problem = fmt::format("{}x{}x{} {}", p.m, p.n, p.k, type_.name);
  summary.peak_type = type_.name;
  summary.plan = config::resolved(chosen_.plan);
  summary.prediction = chosen_.prediction;
  summary.facts["binds"] = chosen_.binds;
  (type_.is_float() ? summary.useful_flops : summary.useful_integer_operations) =
      std::uint64_t{2} * p.m * p.n * p.k;
  summarise(std::move(summary));
}

program::Program ArrayGemm::lowered() const { return make_array_program(product_); }

template <class Number, class Row>
void ArrayGemm::compare(const TensorReader& tensors, std::span<const std::uint64_t> rows,
                        HostThreads& threads, const Row& plain, kernels::Comparison& into) const {
  const Product& p = options_.product;
  const std::vector<std::byte> found = tensors.bytes("C", threads);
  std::vector<Number> b(std::size_t{p.k} * p.n);
  threads.for_ranges(p.k, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row)
      b_.read(static_cast<std::uint32_t>(row), std::span(b).subspan(row * p.n, p.n));
  });
  into.add_all(
      rows.size(), 1, threads, [&](std::size_t begin, std::size_t end, kernels::Comparison& part) {
        std::vector<Number> a(p.k);
        std::vector<double> expected(p.n);
        for (std::size_t i = begin; i < end; ++i) {
          a_.read(static_cast<std::uint32_t>(rows[i]), std::span(a));
          plain(std::span<const Number>(a), std::span<const Number>(b), std::span(expected));
          for (std::uint64_t j = 0; j < p.n; ++j) {
            const std::byte* const at = found.data() + (rows[i] * p.n + j) * type_.bytes;
            part.add({rows[i], j, number_of(type_, at), expected[j], 0});
          }
        }
      });
}

CheckResult ArrayGemm::check(const TensorReader& tensors, const CheckRequest& request) const {
  const std::vector<std::uint64_t> rows = rows_to_compare(options_.product, request);
  HostThreads threads(request.threads);
  const PlainProduct plain{&type_, options_.product.k, options_.product.n, product_.shift,
                           chosen_.plan.whole_sums ? 0 : chosen_.plan.depth};
  kernels::Comparison comparison({"C", type_.type});
  using Shorts = std::span<const std::int16_t>;
  using Floats = std::span<const float>;
  if (type_.is_float())
    compare<float>(
        tensors, rows, threads,
        [&](Floats a, Floats b, std::span<double> c) { plain.row(a, b, c); }, comparison);
  else if (type_.bytes == 1)
    compare<std::int16_t>(
        tensors, rows, threads,
        [&](Shorts a, Shorts b, std::span<double> c) { plain.row<std::int32_t>(a, b, c); },
        comparison);
  else
    compare<std::int16_t>(
        tensors, rows, threads,
        [&](Shorts a, Shorts b, std::span<double> c) { plain.row<std::int64_t>(a, b, c); },
        comparison);
  return comparison.result(rows.size() == options_.product.m ? "full" : "sample");
}

std::unique_ptr<Workload> make_gemm(const Options& options, MachineCosts& costs) {
  const bool array = costs.machine().fabric.kind == "streams";
  const bool vectors = vector_type(options.dtype) != nullptr;
  const auto refuse = [&](const char* allowed) {
    throw KeyError("workload.dtype", fmt::format("found {}, allowed {} with machine.fabric.kind {}",
                                                 config::name_of(kElementTypes, options.dtype),
                                                 allowed, costs.machine().fabric.kind));
  };
  if (vectors && !array) refuse("f16, f32");
  if (!vectors && array) refuse("i8, i16, bf16");
  if (vectors) return std::make_unique<ArrayGemm>(options, costs);
  return std::make_unique<Gemm>(options, costs);
}

}  // namespace tessera::gemm
