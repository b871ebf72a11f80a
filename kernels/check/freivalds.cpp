#include "kernels/check/freivalds.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "sim/data/random.h"

namespace tessera::kernels {

SignVectors::SignVectors(std::uint64_t length, std::uint64_t longest, std::uint64_t seed,
                         std::uint64_t stream)
    : split_{length, static_cast<std::uint32_t>(std::max<std::uint64_t>(
                         1, ceil_div(length, std::max<std::uint64_t>(longest, 1))))},
      signs_(length * kVectors) {
  for (std::uint64_t j = 0; j < length; ++j) {
    const std::uint64_t bits = data::random_bits(seed, stream, j);
    for (std::size_t v = 0; v < kVectors; ++v) {
      signs_[v * length + j] = (bits >> (v + 1) & 1) != 0 ? 1 : -1;
    }
  }
}

namespace {

constexpr std::size_t kDepth = 256;  // elements of a row packed at a time
constexpr std::size_t kGroup = 64;   // rows that a thread sums per work item
constexpr double kNone = 0.999;      // below it no estimate, rounded to f32, exceeds 1
constexpr std::size_t kColumns = kTileColumns<double>;
constexpr std::size_t kPanels = ceil_div(SignVectors::kVectors, kColumns);
constexpr std::size_t kWidth = kPanels * kColumns;

/// Signs as right operands of register tiles: [segment][panel][element][kColumns].
std::vector<double> sign_panels(const SignVectors& signs) {
  std::vector<double> panels(kWidth * signs.length());
  for (std::uint64_t s = 0; s < signs.segments(); ++s) {
    const Interval its = signs.segment(s);
    for (std::size_t v = 0; v < SignVectors::kVectors; ++v) {
      double* const panel =
          &panels[kWidth * its.begin + v / kColumns * its.size() * kColumns + v % kColumns];
      for (std::uint64_t j = 0; j < its.size(); ++j)
        panel[j * kColumns] = static_cast<double>(signs.vector(v)[its.begin + j]);
    }
  }
  return panels;
}

/// Signed sums of at most kGroup rows; each adds its elements in order.
class SignedSums {
 public:
  explicit SignedSums(const SignVectors& signs) : signs_(signs), panels_(sign_panels(signs)) {}

  /// sums[row][sum] of the first `rows` rows of `matrix`.
  void find(const MatrixView& matrix, std::uint64_t rows, double* sums) const {
    const std::uint64_t quads = ceil_div<std::uint64_t>(rows, kTileRows);
    std::vector<double> packed(quads * kTileRows * kDepth);
    std::vector<double> tiles(quads * kTileRows * kWidth);
    for (std::uint64_t s = 0; s < signs_.segments(); ++s) {
      const Interval its = signs_.segment(s);
      std::fill(tiles.begin(), tiles.end(), 0.0);
      for (std::uint64_t j = its.begin; j < its.end; j += kDepth) {
        const std::uint64_t depth = std::min<std::uint64_t>(kDepth, its.end - j);
        const double* const panels = &panels_[kWidth * its.begin + (j - its.begin) * kColumns];
        pack_rows(matrix.from(0, j), rows, depth, packed.data());
        for (std::uint64_t q = 0; q < quads; ++q) {
          for (std::size_t p = 0; p < kPanels; ++p)
            multiply_add_tile(&packed[q * kTileRows * depth], panels + p * its.size() * kColumns,
                              depth, &tiles[q * kTileRows * kWidth + p * kColumns], kWidth);
        }
      }
      for (std::uint64_t row = 0; row < rows; ++row)
        std::copy_n(&tiles[row * kWidth], SignVectors::kVectors,
                    sums + row * signs_.sums() + s * SignVectors::kVectors);
    }
  }

 private:
  const SignVectors& signs_;
  std::vector<double> panels_;
};

}  // namespace

RowSums row_sums(const MatrixView& matrix, std::uint64_t rows, const SignVectors& signs,
                 HostThreads& threads) {
  RowSums its{std::vector<double>(rows * signs.sums()),
              std::vector<double>(rows * signs.segments())};
  const SignedSums sums(signs);
  threads.for_ranges(rows, kGroup, [&](std::size_t begin, std::size_t end) {
    sums.find(matrix.from(begin, 0), end - begin, &its.sums[begin * signs.sums()]);
    const auto add_square = [&](std::size_t row, std::uint64_t segment, std::uint64_t column) {
      const auto value = static_cast<double>(*matrix.from(row, column).data);
      its.squares[row * signs.segments() + segment] += value * value;
    };
    for (std::uint64_t s = 0; s < signs.segments(); ++s) {
      const Interval columns = signs.segment(s);
      for (std::size_t row = begin; row < end && matrix.column_step == 1; ++row)
        for (std::uint64_t j = columns.begin; j < columns.end; ++j) add_square(row, s, j);
      for (std::uint64_t j = columns.begin; j < columns.end && matrix.column_step != 1; ++j)
        for (std::size_t row = begin; row < end; ++row) add_square(row, s, j);
    }
  });
  return its;
}

Screen screened(const SignedRows& its, HostThreads& threads) {
  const SignVectors& signs = its.signs;
  const SignedSums sums(signs);
  std::vector<Screen> pieces(ceil_div<std::size_t>(its.rows, kGroup), Screen(signs));
  threads.for_ranges(its.rows, kGroup, [&](std::size_t begin, std::size_t end) {
    const std::size_t rows = end - begin;
    std::vector<double> found(rows * signs.sums()), expected(found.size());
    std::vector<double> deviations(rows * signs.segments());
    sums.find(its.found.from(begin, 0), rows, found.data());
    its.expected({begin, end}, expected, deviations);
    for (std::size_t i = 0; i < found.size(); ++i) found[i] -= expected[i];
    for (std::size_t row = 0; row < rows; ++row)
      pieces[begin / kGroup].look(
          begin + row, std::span(found).subspan(row * signs.sums(), signs.sums()),
          std::span(deviations).subspan(row * signs.segments(), signs.segments()));
  });
  Screen all(signs);
  for (const Screen& piece : pieces) all.merge(piece);
  return all;
}

void sort_suspects(std::vector<Suspect>& suspects) {
  std::sort(suspects.begin(), suspects.end(), [](const Suspect& a, const Suspect& b) {
    return std::tuple(-a.ratio, a.row, a.columns.begin) <
           std::tuple(-b.ratio, b.row, b.columns.begin);
  });
}

/// Estimates each element's error from the errors of the segment's sums in all vectors: the
/// element's own error plus sqrt(length / 20) times that of one of its neighbours.
void Screen::estimate(std::uint64_t row, std::uint64_t segment, std::span<const double> errors,
                      double lone) {
  const Interval columns = signs_->segment(segment);
  double most = 0;  // bound for any signs
  for (const double error : errors) most += std::abs(error) / (lone * SignVectors::kVectors);
  if (most < kNone) return;
  estimates_.assign(columns.size(), 0);
  for (std::size_t v = 0; v < SignVectors::kVectors; ++v) {
    const auto error = static_cast<float>(errors[v] / (lone * SignVectors::kVectors));
    const float* const signs = &signs_->vector(v)[columns.begin];
    for (std::uint64_t j = 0; j < columns.size(); ++j) estimates_[j] += error * signs[j];
  }
  unsigned above = 0;
  for (const float one : estimates_) above |= std::abs(one) > 1 ? 1U : 0U;
  if (above == 0) return;
  for (std::uint64_t j = 0; j < columns.size(); ++j) {
    if (!(std::abs(estimates_[j]) > 1)) continue;
    const std::uint64_t column = columns.begin + j;
    elements.push_back({static_cast<double>(std::abs(estimates_[j])), row, {column, column + 1}});
  }
}

void Screen::look(std::uint64_t row, std::span<const double> errors,
                  std::span<const double> deviations) {
  constexpr std::size_t kVectors = SignVectors::kVectors;
  for (std::uint64_t s = 0; s < signs_->segments(); ++s) {
    const Interval columns = signs_->segment(s);
    const auto length = static_cast<double>(columns.size());
    const double allowed = kDeviations * deviations[s];
    const double one = deviations[s] * std::sqrt(1.0 / kVectors + 1.0 / length);
    threshold = std::max(threshold, allowed);
    lone_threshold = std::max(lone_threshold, (kLoneDeviations + kMissedDeviations) * one);
    const auto its = errors.subspan(s * kVectors, kVectors);
    double largest = 0;
    for (const double error : its) {
      const double size = std::isfinite(error) ? std::abs(error) : HUGE_VAL;
      largest = std::max(largest, size == 0 ? 0 : size / allowed);
    }
    if (largest > 1) {
      segments.push_back({largest, row, columns});
    } else {
      worst = std::max(worst, largest);
    }
    // If no error is allowed, or a sum is not finite, every element would stand out.
    if (std::isfinite(largest)) estimate(row, s, its, kLoneDeviations * one);
  }
}

void Screen::merge(const Screen& other) {
  elements.insert(elements.end(), other.elements.begin(), other.elements.end());
  segments.insert(segments.end(), other.segments.begin(), other.segments.end());
  worst = std::max(worst, other.worst);
  threshold = std::max(threshold, other.threshold);
  lone_threshold = std::max(lone_threshold, other.lone_threshold);
}

}  // namespace tessera::kernels
