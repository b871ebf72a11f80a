#include "kernels/check/product.h"
#include "kernels/gemm/bit_exact.h"
#include "kernels/gemm/gemm.h"

namespace tessera::gemm {

namespace {

constexpr std::uint64_t kSignStream = 3;  // of random numbers

}  // namespace

Finished Gemm::finished(const TensorReader& tensors, HostThreads& threads) const {
  const Roles& its = geometry_.roles();
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
  HostThreads threads(request.threads);
  const Finished found = finished(tensors, threads);
  const BitExact exact(geometry_, found);
  const BlockShape& block = geometry_.block();
  const kernels::Rounding rounding = kernels::rounding_of(
      block.input, block.partial, block.partial == Type::f16 && block.on_unit() ? block.depth : 1,
      geometry_.plan().split_k);
  const std::span<const float> x = found.x;
  const kernels::Product product{
      found.rows,
      found.depth,
      found.columns,
      found.w,
      found.y,
      rounding,
      [&](std::uint64_t row, std::vector<kernels::Term>& terms) {
        terms.clear();
        for (const float weight : x.subspan(row * found.depth, found.depth))
          terms.push_back({static_cast<std::uint32_t>(terms.size()), weight});
      },
      [&](std::uint64_t row, Interval columns, std::span<float> y) { exact.row(row, columns, y); },
      x};
  kernels::Checked checked = kernels::row_check(
      product, {"C", block.input, block.partial, geometry_.plan().stationary == Stationary::a},
      {request.seed, kSignStream, kernels::segment_length(rounding, found.depth)});
  checked.flops = useful_flops();
  checked.most_suspects = 4096;
  checked.whole_lines = false;
  for (std::uint32_t tile = 0; tile < geometry_.tiles(); ++tile)
    for (const kernels::Strip& strip : exact.chosen(tile, request.seed))
      checked.exact_strips.push_back(strip);
  return kernels::check(checked, request, threads);
}

}  // namespace tessera::gemm
