#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/check/signs.h"
#include "kernels/gemm/reference.h"

namespace tessera::gemm {

namespace {

using kernels::Screen;
using kernels::SignVectors;
using kernels::Suspect;

constexpr std::uint64_t kRowStream = 3;  // of random numbers
constexpr std::uint64_t kColumnStream = 4;
constexpr double kShare = 0.5;               // of the results' root mean square: what is to be seen
constexpr std::uint64_t kShortest = 1024;    // segment: shorter ones cost half a product and more
constexpr std::size_t kMostElements = 4096;  // that are compared because they stand out
constexpr std::size_t kMostSegments = 16;

constexpr std::size_t kRows = 4;    // a register tile:
constexpr std::size_t kSums = 12;   // 48 numbers
constexpr std::size_t kGroup = 16;  // rows that pass all sums together

/// Sums of W's rows, cut into stripes of 12: [stripe][depth][12].
std::vector<double> signed_sums(const Finished& product, const SignVectors& signs,
                                HostThreads& threads) {
  const std::size_t stripes = ceil_div(signs.sums(), kSums);
  std::vector<double> packed(stripes * product.depth * kSums);
  threads.for_ranges(product.depth, 64, [&](std::size_t begin, std::size_t end) {
    std::vector<double> sums(stripes * kSums);
    for (std::size_t k = begin; k < end; ++k) {
      std::fill(sums.begin(), sums.end(), 0.0);
      signs.add(std::span(product.w).subspan(k * product.columns, product.columns), 1, sums);
      for (std::size_t i = 0; i < sums.size(); ++i) {
        packed[(i / kSums * product.depth + k) * kSums + i % kSums] = sums[i];
      }
    }
  });
  return packed;
}

/// Sums of a row's products, and what their partial sums say of rounding.
struct RowSums {
  std::vector<double> value, block_squares, largest;
  explicit RowSums(std::size_t count) : value(count), block_squares(count), largest(count) {}
};

/// Four rows (x: [depth][4]) times one stripe.
void multiply(const double* x, const double* w, std::uint64_t depth, std::uint64_t block,
              std::array<RowSums*, kRows> rows, std::size_t first) {
  double sum[kRows][kSums] = {};
  for (std::uint64_t begin = 0; begin < depth; begin += block) {
    const std::uint64_t end = std::min(begin + block, depth);
    for (std::uint64_t k = begin; k < end; ++k) {
      for (std::size_t r = 0; r < kRows; ++r) {
        for (std::size_t c = 0; c < kSums; ++c) {
          sum[r][c] = std::fma(x[k * kRows + r], w[k * kSums + c], sum[r][c]);
        }
      }
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t c = 0; c < kSums; ++c) {
        const double square = sum[r][c] * sum[r][c];
        rows[r]->block_squares[first + c] += square;
        rows[r]->largest[first + c] = std::max(rows[r]->largest[first + c], square);
      }
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    std::copy(sum[r], sum[r] + kSums, rows[r]->value.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

/// Looks at sums of rows of Y.
class RowScreen {
 public:
  RowScreen(const Finished& product, const Rounding& rounding, const SignVectors& signs,
            const std::vector<double>& packed)
      : product_(product),
        rounding_(rounding),
        signs_(signs),
        packed_(packed),
        stripes_(ceil_div(signs.sums(), kSums)),
        sums_(kGroup, RowSums(stripes_ * kSums)),
        errors_(signs.sums()),
        deviations_(signs.segments()) {}

  /// At most kGroup rows.
  void look(std::uint64_t begin, std::uint64_t end, Screen& screen) {
    multiply_group(begin, end);
    for (std::uint64_t row = begin; row < end; ++row) {
      const RowSums& sums = sums_[row - begin];
      std::fill(errors_.begin(), errors_.end(), 0.0);
      signs_.add(std::span(product_.y).subspan(row * product_.columns, product_.columns), 1,
                 errors_);
      for (std::size_t i = 0; i < errors_.size(); ++i) errors_[i] -= sums.value[i];
      for (std::uint64_t s = 0; s < signs_.segments(); ++s) deviations_[s] = deviation(sums, s);
      screen.look(row, errors_, deviations_);
    }
  }

 private:
  void multiply_group(std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t depth = product_.depth;
    x_.assign(kGroup * depth, 0);
    for (std::uint64_t row = begin; row < end; ++row) {
      const std::uint64_t at = row - begin;
      for (std::uint64_t k = 0; k < depth; ++k) {
        x_[(at / kRows * depth + k) * kRows + at % kRows] =
            static_cast<double>(product_.x[row * depth + k]);
      }
    }
    for (RowSums& row : sums_) {
      std::fill(row.block_squares.begin(), row.block_squares.end(), 0.0);
      std::fill(row.largest.begin(), row.largest.end(), 0.0);
    }
    for (std::size_t stripe = 0; stripe < stripes_; ++stripe) {
      for (std::size_t r = 0; r < end - begin; r += kRows) {
        multiply(&x_[r * depth], &packed_[stripe * depth * kSums], depth, rounding_.block,
                 {&sums_[r], &sums_[r + 1], &sums_[r + 2], &sums_[r + 3]}, stripe * kSums);
      }
    }
  }

  /// Of rounding, in a sum over a segment: the mean square of a sum with random signs is the sum of
  /// squares. A rounding is off by up to its relative error, evenly: 1 / sqrt(3) of it.
  [[nodiscard]] double deviation(const RowSums& sums, std::uint64_t segment) const {
    const auto block = static_cast<double>(rounding_.block);
    const double partial = rounding_.partial * rounding_.partial;
    double squares = 0;
    for (std::size_t i = segment * SignVectors::kVectors; i < (segment + 1) * SignVectors::kVectors;
         ++i) {
      squares += rounding_.sum * rounding_.sum * block * sums.block_squares[i] +
                 partial * rounding_.parts * sums.largest[i] +
                 (rounding_.every_block ? partial * sums.block_squares[i] : 0) +
                 rounding_.result * rounding_.result * sums.value[i] * sums.value[i];
    }
    const auto depth = static_cast<double>(product_.depth);
    const double small = depth * rounding_.smallest_sum + rounding_.smallest_result +
                         (depth / block + rounding_.parts) * rounding_.smallest_partial;
    return std::sqrt(squares / (3.0 * SignVectors::kVectors) +
                     static_cast<double>(signs_.segment(segment).size()) * small * small);
  }

  const Finished& product_;
  const Rounding& rounding_;
  const SignVectors& signs_;
  const std::vector<double>& packed_;
  std::size_t stripes_;
  std::vector<RowSums> sums_;  ///< of the group's rows
  std::vector<double> x_;      ///< their inputs, [row / 4][depth][row % 4]
  std::vector<double> errors_, deviations_;
};

/// The longest segment at which an element that is off by half of the results' root mean square
/// still stands out of what roundings add up to, partial sums growing as the root of the depth.
std::uint64_t segment_length(const Finished& product, const Rounding& rounding) {
  const auto depth = static_cast<double>(product.depth);
  const double blocks = depth / static_cast<double>(rounding.block);
  const double partial = rounding.partial * rounding.partial;
  const double square =
      (rounding.sum * rounding.sum * depth / 2 + partial * rounding.parts +
       (rounding.every_block ? partial * blocks / 2 : 0) + rounding.result * rounding.result) /
      3;
  const double most = kShare * kShare / (Screen::kDeviations * Screen::kDeviations * square);
  return static_cast<std::uint64_t>(std::clamp(most, static_cast<double>(kShortest), 0x1p40));
}

Screen screen_rows(const Finished& product, const Rounding& rounding, const SignVectors& signs,
                   HostThreads& threads) {
  const std::vector<double> packed = signed_sums(product, signs, threads);
  constexpr std::size_t kGrain = 8 * kGroup;
  std::vector<Screen> pieces(ceil_div<std::size_t>(product.rows, kGrain), Screen(signs));
  threads.for_ranges(product.rows, kGrain, [&](std::size_t begin, std::size_t end) {
    RowScreen rows(product, rounding, signs, packed);
    for (std::size_t row = begin; row < end; row += kGroup) {
      rows.look(row, std::min(row + kGroup, end), pieces[begin / kGrain]);
    }
  });
  Screen all(signs);
  for (const Screen& piece : pieces) all.merge(piece);
  return all;
}

/// Compares what stands out; `turn`: rows and columns are exchanged.
void compare_suspects(const Finished& product, const Rounding& rounding, Screen& screen, bool turn,
                      SumsFound& found, kernels::Comparison& comparison) {
  const auto compare = [&](std::vector<Suspect>& suspects, std::size_t most, double& threshold) {
    kernels::sort_suspects(suspects);
    for (std::size_t i = 0; i < std::min(most, suspects.size()); ++i) {
      const Suspect& one = suspects[i];
      if (!turn) {
        compare_row(product, rounding, one.row, one.columns, true, comparison);
        continue;
      }
      for (std::uint64_t row = one.columns.begin; row < one.columns.end; ++row) {
        compare_row(product, rounding, row, {one.row, one.row + 1}, true, comparison);
      }
    }
    if (suspects.size() > most) threshold *= suspects[most].ratio;
  };
  compare(screen.segments, kMostSegments, screen.threshold);
  compare(screen.elements, kMostElements, screen.lone_threshold);
  found.worst = std::max(found.worst, screen.worst);
  found.threshold = std::max(found.threshold, screen.threshold);
  found.lone_threshold = std::max(found.lone_threshold, screen.lone_threshold);
}

}  // namespace

SumsFound compare_sums(const Finished& product, const Rounding& rounding, std::uint64_t seed,
                       HostThreads& threads, kernels::Comparison& comparison) {
  SumsFound found;
  const std::uint64_t longest = segment_length(product, rounding);
  for (const bool turn : {false, true}) {
    const SignVectors signs(turn ? product.rows : product.columns, longest, seed,
                            turn ? kColumnStream : kRowStream);
    Screen screen = screen_rows(turn ? transposed(product) : product, rounding, signs, threads);
    compare_suspects(product, rounding, screen, turn, found, comparison);
  }
  return found;
}

}  // namespace tessera::gemm
