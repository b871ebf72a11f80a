#include "kernels/check/product.h"
#include "kernels/gemm/bit_exact.h"
#include "kernels/gemm/gemm.h"
#include "sim/base/errors.h"

namespace tessera::gemm {

namespace {

constexpr std::uint64_t kSignStream = 3;         // of random numbers
constexpr std::uint64_t kMostHeld = 1ULL << 30;  // elements of A and B, in float

/// A dense row; zeros are terms too.
void to_terms(std::span<const float> row, std::vector<kernels::Term>& terms) {
  terms.clear();
  terms.reserve(row.size());
  for (const float weight : row)
    terms.push_back({static_cast<std::uint32_t>(terms.size()), weight});
}

}  // namespace

Finished Gemm::finished(const TensorReader& tensors, HostThreads& threads) const {
  const Roles its = roles(grid_.whole(), geometry_.plan().stationary);
  const bool turned = geometry_.plan().stationary == Stationary::a;
  return {its.rows,
          its.columns,
          its.depth,
          kernels::rows_of(turned ? b_ : a_, threads, turned),
          kernels::rows_of(turned ? a_ : b_, threads, turned),
          tensors.floats("C", threads,
                         turned ? TensorReader::Order::transposed : TensorReader::Order::rows)};
}

/// Every element in double and to the bit, or sums of rows and columns; either way a block a tile
/// to the bit.
CheckResult Gemm::check(const TensorReader& tensors, const CheckRequest& request) const {
  const Product& p = options_.product;
  HostThreads threads(request.threads);
  if ((std::uint64_t{p.m} + p.n) * p.k > kMostHeld) return check_rows(tensors, request, threads);
  const Finished found = finished(tensors, threads);
  const BitExact exact(geometry_, found, grid_);
  const std::span<const float> x = found.x;
  const kernels::Rounding rounding = this->rounding();
  const kernels::Product product{
      found.rows,
      found.depth,
      found.columns,
      found.w,
      found.y,
      rounding,
      [&](std::uint64_t row, std::vector<kernels::Term>& terms) {
        to_terms(x.subspan(row * found.depth, found.depth), terms);
      },
      [&](std::uint64_t row, Interval columns, std::span<float> y) { exact.row(row, columns, y); },
      x};
  std::vector<kernels::Strip> strips;
  for (std::uint32_t tile = 0; tile < geometry_.tiles(); ++tile)
    for (const kernels::Strip& strip : exact.chosen(tile, request.seed)) strips.push_back(strip);
  return checked(product, geometry_.plan().stationary == Stationary::a, std::move(strips), request,
                 threads);
}

kernels::Rounding Gemm::rounding() const {
  const BlockShape& block = geometry_.block();
  return kernels::rounding_of(block.input, block.partial,
                              block.partial == Type::f16 && block.on_unit() ? block.depth : 1,
                              geometry_.plan().split_k);
}

CheckResult Gemm::checked(const kernels::Product& product, bool transposed,
                          std::vector<kernels::Strip> strips, const CheckRequest& request,
                          HostThreads& threads) const {
  const BlockShape& block = geometry_.block();
  kernels::Checked checked = kernels::row_check(
      product, {"C", block.input, block.partial, transposed},
      {request.seed, kSignStream, kernels::segment_length(product.rounding, product.depth)});
  checked.flops = useful_flops();
  checked.most_suspects = 4096;
  checked.whole_lines = false;
  checked.exact_strips = std::move(strips);
  return kernels::check(checked, request, threads);
}

/// The same with A made anew row by row, where the host would have to hold too much of it: by sums
/// of rows alone.
CheckResult Gemm::check_rows(const TensorReader& tensors, const CheckRequest& request,
                             HostThreads& threads) const {
  const Product& p = options_.product;
  const bool turned = geometry_.plan().stationary == Stationary::a;
  const std::vector<float> b = kernels::rows_of(b_, threads);
  const std::vector<float> c = tensors.floats("C", threads);
  const auto row_of_a = [this](std::uint64_t row, std::vector<float>& scratch) {
    scratch.resize(a_.columns());
    a_.read_row(row, scratch);
    return std::span<const float>(scratch);
  };
  const auto column_of_b = [this](std::uint64_t column, std::vector<float>& scratch) {
    scratch.resize(b_.rows());
    b_.read_column(column, scratch);
    return std::span<const float>(scratch);
  };
  Multiplied multiplied{p.m, p.n, p.k, row_of_a,
                        [&](Interval columns, std::vector<float>& /*scratch*/) {
                          return Multiplied::Columns{&b[columns.begin], p.n};
                        }};
  // Y is C transposed: a column of it comes from a row of A.
  if (turned)
    multiplied = {p.n, p.m, p.k, column_of_b, [&](Interval columns, std::vector<float>& scratch) {
                    tessera::check(columns.size() == 1, "gemm: more columns than one at a time");
                    return Multiplied::Columns{row_of_a(columns.begin, scratch).data(), 1};
                  }};
  const BitExact exact(geometry_, std::move(multiplied), grid_);
  const kernels::Product product{p.m,
                                 p.k,
                                 p.n,
                                 b,
                                 c,
                                 rounding(),
                                 [&](std::uint64_t row, std::vector<kernels::Term>& terms) {
                                   std::vector<float> scratch;
                                   to_terms(row_of_a(row, scratch), terms);
                                 },
                                 [&](std::uint64_t row, Interval columns, std::span<float> y) {
                                   if (!turned) return exact.row(row, columns, y);
                                   for (std::uint64_t j = columns.begin; j < columns.end; ++j)
                                     exact.row(j, {row, row + 1}, y.subspan(j - columns.begin, 1));
                                 }};
  std::vector<kernels::Strip> strips;
  for (std::uint32_t tile = 0; tile < geometry_.tiles(); ++tile)
    for (const kernels::Strip& strip : exact.chosen(tile, request.seed)) {
      if (!turned) strips.push_back(strip);
      for (std::uint64_t row = strip.along.begin; turned && row < strip.along.end; ++row)
        strips.push_back({row, {strip.line, strip.line + 1}});
    }
  return checked(product, false, std::move(strips), request, threads);
}

}  // namespace tessera::gemm
