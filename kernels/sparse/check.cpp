#include "kernels/sparse/check.h"

#include <algorithm>

#include "kernels/sparse/operand/sources.h"

namespace tessera::sparse {

namespace {

constexpr std::uint64_t kRowStep = 64;   // sample mode compares one of this many rows
constexpr std::uint64_t kSegment = 256;  // columns whose signed sum is checked

/// An element of A B^T exactly as the machine must compute it.
float exact_element(const SampledProduct& product, std::uint64_t block, std::uint32_t at,
                    std::span<const float> left, const float* right) {
  const kernels::OrderedSums ordered(product.rounding.partials, std::max(product.depth, 1U));
  std::vector<float> partials;
  for (const Interval& columns : product.columns) {
    const std::uint64_t begin = std::min(columns.begin, product.n);
    const auto its = left.subspan(begin, std::min(columns.end, product.n) - begin);
    float& sum = partials.emplace_back(0.0F);
    if (product.depth > 0)
      ordered.add_rows(its, right + begin, 1, {&sum, 1});
    else
      sum = kernels::vector_dot(product.rounding.type, its, right + begin);
  }
  return kernels::to_type(product.rounding.type,
                          ordered.joined(partials, product.own ? product.own(block, at) : 0));
}

void compare_block(const SampledProduct& product, std::uint64_t block, kernels::Comparison& into) {
  const SampledProduct::Corner corner = product.corner(block);
  for (std::uint32_t at = 0; at < product.side * product.side; ++at) {
    const std::uint64_t row = corner.row + at / product.side;
    const std::uint64_t column = corner.column + at % product.side;
    const float* const left = product.left(row);
    const float* const right = product.right(column);
    if (left == nullptr || right == nullptr) continue;
    const std::span<const float> of_left(left, product.n);
    kernels::Compared one =
        kernels::dot(of_left, right)
            .compared(row, column, static_cast<double>(product.found(block, at)), product.rounding);
    one.exact = static_cast<double>(exact_element(product, block, at, of_left, right));
    if (product.then) product.then(block, one);
    into.add(one);
  }
}

}  // namespace

void read_row(const BlockMatrix& w, std::uint64_t row, std::vector<kernels::Term>& terms) {
  terms.clear();
  const std::uint64_t block_row = row / w.block;
  for (std::uint64_t e = w.row_begin[block_row]; e < w.row_begin[block_row + 1]; ++e) {
    const auto values = w.values(e).subspan(row % w.block * w.block, w.block);
    for (std::uint32_t i = 0; i < w.block; ++i) {
      const std::uint32_t column = w.column[e] * w.block + i;
      if (column < w.columns) terms.push_back({column, values[i]});
    }
  }
}

kernels::ExactRow exact_row(const BlockMatrix& w, const DenseRows& x, const Shape& shape,
                            SumOrder order) {
  const kernels::OrderedSums ordered(shape.partials, shape.summed());
  return [&w, x, type = shape.type, ordered, order = std::move(order)](
             std::uint64_t row, Interval columns, std::span<float> y) {
    std::fill(y.begin(), y.end(), 0.0F);
    const std::uint64_t within = row % w.block;
    for (const auto& [from, to, kind] : order.columns) {
      const PartialSums& partials = order.rows[kind][row / w.block];
      const Interval its{std::max<std::uint64_t>(from, columns.begin),
                         std::min<std::uint64_t>(to, columns.end)};
      if (its.begin >= its.end || partials.empty()) continue;
      const std::size_t width = its.size();
      std::vector<float> sums(partials.size() * width);
      for (std::size_t i = 0; i < partials.size(); ++i)
        for (const std::uint64_t block : partials[i]) {
          const std::uint32_t first = w.column[block] * w.block;
          const std::uint32_t inside = std::min(w.block, w.columns - first);
          ordered.add_rows(w.values(block).subspan(within * w.block, inside),
                           &x.values[std::uint64_t{first} * x.n + its.begin], x.n,
                           std::span(sums).subspan(i * width, width));
        }
      std::vector<float> of_column(partials.size());
      for (std::size_t j = 0; j < width; ++j) {
        for (std::size_t i = 0; i < partials.size(); ++i) of_column[i] = sums[i * width + j];
        const std::size_t own = order.own ? order.own(word(row), word(its.begin + j)) : 0;
        y[its.begin - columns.begin + j] = kernels::to_type(type, ordered.joined(of_column, own));
      }
    }
  };
}

CheckResult check_product(const BlockMatrix& w, const DenseRows& x, std::span<const float> y,
                          const kernels::Rounding& rounding, const CheckRequest& request,
                          const kernels::ExactRow& exact) {
  const kernels::Product product{
      w.rows,
      w.columns,
      x.n,
      x.values,
      y,
      rounding,
      [&w](std::uint64_t row, std::vector<kernels::Term>& terms) { read_row(w, row, terms); },
      exact};
  kernels::Checked checked = kernels::row_check(product, {"Y", rounding.type, rounding.partials},
                                                {request.seed, kSignStream, kSegment});
  checked.flops = 2 * w.value.size() * x.n;
  checked.sample = kernels::sample_lines(w.rows, kRowStep, request.seed, kSampleStream);
  HostThreads threads(request.threads);
  return kernels::check(checked, request, threads);
}

CheckResult check_sampled(const SampledProduct& product, const CheckRequest& request,
                          HostThreads& threads) {
  kernels::Checked checked{{product.name, product.rounding.type, product.rounding.partials}};
  checked.flops = product.flops;
  checked.lines = product.blocks;
  checked.sample = product.sample;
  checked.compare = [&](std::span<const kernels::Strip> blocks, kernels::Comparison& into) {
    for (const kernels::Strip& block : blocks) compare_block(product, block.line, into);
  };
  return kernels::check(checked, request, threads);
}

}  // namespace tessera::sparse
