#include <algorithm>
#include <set>

#include "kernels/butterfly/butterfly.h"
#include "kernels/butterfly/check_signs.h"
#include "kernels/butterfly/reference.h"
#include "kernels/butterfly/replay.h"
#include "kernels/check/comparison.h"
#include "sim/base/parallel.h"
#include "sim/data/random.h"

namespace tessera::butterfly {

namespace {

/// Errors of errors: what the bound leaves out is of second order.
constexpr double kSecondOrder = 1.01;
constexpr std::uint32_t kSampledColumns = 32;
constexpr std::uint32_t kMostDense = 128;  ///< features up to which the dense matrix is made
constexpr std::size_t kDenseChunks = 32;   ///< of columns that it multiplies
constexpr std::uint64_t kSampleStream = 11;
/// What kMostComparedFlops is for products of blocks: they are a dense product's, which runs a
/// tenth as long as other twiddles' do.
constexpr std::uint64_t kMostOfBlocks = 1'000'000'000;
constexpr std::uint64_t kSegment = 256;      ///< columns whose signed sum is checked
constexpr std::size_t kMostSuspects = 1024;  ///< columns that are compared for standing out

/// All columns, or some, at least one of every part of the plan.
std::vector<std::uint32_t> columns_to_compare(const Geometry& geometry, bool all,
                                              std::uint64_t seed) {
  std::vector<std::uint32_t> columns;
  const std::uint32_t n = geometry.problem.n;
  if (all) {
    for (std::uint32_t j = 0; j < n; ++j) columns.push_back(j);
    return columns;
  }
  const auto draw = [&](std::uint64_t stream, std::uint64_t number, std::uint64_t first,
                        std::uint64_t end) {
    columns.push_back(
        static_cast<std::uint32_t>(first + data::random_below(seed, stream, number, end - first)));
  };
  for (std::uint32_t round = 0; round < geometry.plan.rounds; ++round)
    for (std::uint32_t part = 0; part < geometry.plan.split_n; ++part) {
      const Interval units = geometry.round(round).units(part * geometry.plan.split_features);
      const std::uint64_t width = geometry.problem.unit_columns();
      draw(kSampleStream, round * std::uint64_t{geometry.plan.split_n} + part, units.begin * width,
           std::min<std::uint64_t>(units.end * width, n));
    }
  for (std::uint32_t i = 0; i < kSampledColumns; ++i) draw(kSampleStream + 1, i, 0, n);
  return columns;
}

}  // namespace

namespace {

/// Some columns at a time: the factors applied to X in double with a running bound, and, where it
/// is small, the dense matrix times X.
class ColumnComparison {
 public:
  ColumnComparison(const SignedProduct& product, const std::vector<Factor>& matrices,
                   HostThreads& threads)
      : product_(product), threads_(threads) {
    if (product.problem.features <= kMostDense) dense_ = dense_product(matrices);
  }

  /// All elements of these columns, which may be some that stand out.
  void compare(std::span<const std::uint32_t> columns, bool suspect,
               kernels::Comparison& into) const {
    constexpr std::size_t kWidth = Columns::kWidth;
    const std::size_t chunks = ceil_div(columns.size(), kWidth);
    std::vector<kernels::Comparison> pieces(chunks, into.fresh());
    threads_.for_ranges(chunks, kGrain, [&](std::size_t begin, std::size_t end) {
      Room room;
      for (std::size_t i = begin; i < end; ++i)
        compare_chunk(columns.subspan(i * kWidth, std::min(kWidth, columns.size() - i * kWidth)),
                      suspect, i < kDenseChunks, room, pieces[i]);
    });
    for (const kernels::Comparison& piece : pieces) into.merge(piece);
  }

 private:
  static constexpr std::size_t kGrain = 8;  // chunks that go through the same memory
  struct Room {
    Columns x, y, next;
  };

  void compare_chunk(std::span<const std::uint32_t> columns, bool suspect, bool dense, Room& room,
                     kernels::Comparison& into) const {
    constexpr std::size_t kWidth = Columns::kWidth;
    const Problem& p = product_.problem;
    const std::uint32_t parts = p.is_complex() ? 2 : 1;
    Columns& y = room.y;
    exact_columns(p, product_.x, columns, y);
    const bool times_dense = !dense_.empty() && dense;
    if (times_dense) room.x = y;
    for (const RealFactor& each : product_.factors) {
      apply(each, y, p.type(), product_.roundings, room.next);
      std::swap(y, room.next);
    }
    if (times_dense) y.value = multiply(dense_, room.x, parts);
    constexpr std::size_t kAhead = 16;
    const std::size_t rows = std::size_t{p.features} * parts;
    for (std::size_t row = 0; row < rows; ++row) {
      // No prefetcher of a host's takes such steps.
      const std::uint64_t ahead = std::min(row + kAhead, rows - 1) / parts * p.n + columns[0];
      __builtin_prefetch(&product_.found[ahead * parts]);
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const std::uint64_t at = (row / parts * p.n + columns[i]) * parts + row % parts;
        const kernels::Compared one{
            row / parts, columns[i], static_cast<double>(product_.found[at]),
            y.value[row * kWidth + i], kSecondOrder * y.error[row * kWidth + i]};
        suspect ? into.add_suspect(one) : into.add(one);
      }
    }
  }

  const SignedProduct& product_;
  HostThreads& threads_;
  std::vector<std::vector<Complex>> dense_;
};

/// Columns in which something stands out, the worst first; of too many those beyond `most` go with
/// a threshold that is higher by as much.
std::vector<std::uint32_t> columns_of(std::vector<kernels::Suspect>& suspects, std::size_t most,
                                      double& threshold) {
  kernels::sort_suspects(suspects);
  std::set<std::uint32_t> columns;
  for (const kernels::Suspect& one : suspects) {
    if (columns.size() >= most) {
      threshold *= one.ratio;
      break;
    }
    for (std::uint64_t j = one.columns.begin; j < one.columns.end; ++j)
      columns.insert(static_cast<std::uint32_t>(j));
  }
  return {columns.begin(), columns.end()};
}

}  // namespace

/// All columns, or some and sums with random signs of all.
CheckResult Butterfly::check_product(const TensorReader& tensors,
                                     const CheckRequest& request) const {
  const Problem& p = options_.problem;
  const bool all =
      compares_all(request.mode, useful_flops(), p.blocked() ? kMostOfBlocks : kMostComparedFlops);
  const std::vector<Factor> matrices = factors(p, operands_.twiddles);
  std::vector<RealFactor> real;
  real.reserve(matrices.size());
  for (const Factor& each : matrices) real.push_back(real_factor(p, each));
  HostThreads threads(request.threads);
  const std::vector<float> found = tensors.floats(p.pass == Pass::forward ? "Y" : "Xg", threads);
  const SignedProduct product{p, real, operands_.x, found, roundings()};
  const ColumnComparison columns(product, matrices, threads);
  kernels::Comparison comparison({"Y", p.type(), p.type(), false});
  const std::vector<std::uint32_t> compared = columns_to_compare(geometry_, all, request.seed);
  columns.compare(compared, false, comparison);
  if (p.dtype == Number::f16)
    compare_replayed(product, columns_to_compare(geometry_, false, request.seed), threads,
                     comparison);
  // Roundings of a factor go on to all rows that come of it.
  const std::uint64_t numbers = compared.size() * p.features * (p.is_complex() ? 2 : 1);
  comparison.judge_mean(seeded() ? numbers / (std::uint64_t{2} * p.stages()) : 0);
  if (all) return comparison.result("full");
  const kernels::SignVectors signs(p.n, kSegment, request.seed, kSampleStream + 2);
  SignedProduct of_sums = product;
  if (seeded()) of_sums.roundings = Roundings::independent;
  kernels::Screen screen = screen_columns(of_sums, signs, threads);
  double threshold = screen.threshold.value;
  double lone = screen.lone_threshold.value;
  columns.compare(columns_of(screen.segments, kMostSuspects, threshold), true, comparison);
  columns.compare(columns_of(screen.elements, kMostSuspects, lone), true, comparison);
  CheckResult result = comparison.result("sample");
  result.max_error = std::max(result.max_error, screen.worst.value);
  result.threshold = threshold;
  result.lone_threshold = lone;
  result.missed_probability = kernels::SignVectors::kMissed;
  return result;
}

bool Butterfly::seeded() const {
  return options_.x.empty() && options_.gradient.empty() && options_.twiddles.empty();
}

/// Magnitudes of many products say little of their sum.
Roundings Butterfly::roundings() const {
  return options_.problem.blocked() && seeded() ? Roundings::independent : Roundings::any;
}

CheckResult Butterfly::check(const TensorReader& tensors, const CheckRequest& request) const {
  if (request.mode == CheckMode::off) return {true, 0, 0, "off"};
  return options_.problem.pass == Pass::grad_twiddles ? check_gradient(tensors, request)
                                                      : check_product(tensors, request);
}

}  // namespace tessera::butterfly
