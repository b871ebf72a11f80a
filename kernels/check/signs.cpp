#include "kernels/check/signs.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <type_traits>

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

SignVectors SignVectors::only(std::uint64_t number) const {
  const Interval part = segment(number);
  SignVectors one(EvenSplit{part.size(), 1});
  for (std::size_t v = 0; v < kVectors; ++v) {
    const auto its = vector(v).subspan(part.begin, part.size());
    one.signs_.insert(one.signs_.end(), its.begin(), its.end());
  }
  return one;
}

namespace {

constexpr std::size_t kDepth = 256;  // elements of a row that are packed at a time
constexpr double kNone = 0.999;      // no estimate is above 1, roundings to single precision too

/// Four rows as they lie; the last one again for those that are missing.
LeftSide<float> side_of(const MatrixView& matrix, std::uint64_t first, std::uint64_t rows) {
  LeftSide<float> side{{}, 1};
  for (std::uint64_t r = 0; r < kTileRows; ++r)
    side.rows[r] = matrix.from(std::min(first + r, rows - 1), 0).data;
  return side;
}

template <class Number>
constexpr std::size_t kPanels = ceil_div(SignVectors::kVectors, kTileColumns<Number>);

}  // namespace

template <class Number>
SignedSums<Number>::SignedSums(const SignVectors& signs) : signs_(signs) {
  constexpr std::size_t kColumns = kTileColumns<Number>;
  panels_.resize(kPanels<Number> * kColumns * signs.length());
  for (std::uint64_t s = 0; s < signs.segments(); ++s) {
    const Interval its = signs.segment(s);
    Number* const panels = &panels_[kPanels<Number> * kColumns * its.begin];
    for (std::size_t v = 0; v < SignVectors::kVectors; ++v) {
      Number* const panel = panels + v / kColumns * its.size() * kColumns + v % kColumns;
      for (std::uint64_t j = 0; j < its.size(); ++j) {
        panel[j * kColumns] = static_cast<Number>(signs.vector(v)[its.begin + j]);
      }
    }
  }
}

template <class Number>
void SignedSums<Number>::add(const MatrixView& matrix, std::uint64_t rows, Number* sums,
                             std::uint64_t step) const {
  constexpr std::size_t kColumns = kTileColumns<Number>;
  constexpr std::size_t kWidth = kPanels<Number> * kColumns;
  const std::uint64_t quads = ceil_div<std::uint64_t>(rows, kTileRows);
  std::vector<Number> packed(quads * kTileRows * kDepth);
  std::vector<Number> tiles(quads * kTileRows * kWidth);
  for (std::uint64_t s = 0; s < signs_.segments(); ++s) {
    const Interval its = signs_.segment(s);
    std::fill(tiles.begin(), tiles.end(), Number{0});
    for (std::uint64_t j = its.begin; j < its.end; j += kDepth) {
      const std::uint64_t depth = std::min<std::uint64_t>(kDepth, its.end - j);
      const Number* const panels = &panels_[kWidth * its.begin + (j - its.begin) * kColumns];
      const MatrixView part = matrix.from(0, j);
      const bool direct = std::is_same_v<Number, float> && part.column_step == 1;
      if (!direct) pack_rows(part, rows, depth, packed.data());
      for (std::uint64_t q = 0; q < quads; ++q) {
        auto left = packed_side<Number>(&packed[q * kTileRows * depth]);
        if constexpr (std::is_same_v<Number, float>) {
          if (direct) left = side_of(part, q * kTileRows, rows);
        }
        for (std::size_t p = 0; p < kPanels<Number>; ++p) {
          multiply_add_tile(left, panels + p * its.size() * kColumns, depth,
                            &tiles[q * kTileRows * kWidth + p * kColumns], kWidth);
        }
      }
    }
    for (std::uint64_t row = 0; row < rows; ++row) {
      std::copy_n(&tiles[row * kWidth], SignVectors::kVectors,
                  sums + row * step + s * SignVectors::kVectors);
    }
  }
}

template class SignedSums<float>;
template class SignedSums<double>;

void sort_suspects(std::vector<Suspect>& suspects) {
  std::sort(suspects.begin(), suspects.end(), [](const Suspect& a, const Suspect& b) {
    return std::tuple(-a.ratio, a.row, a.columns.begin) <
           std::tuple(-b.ratio, b.row, b.columns.begin);
  });
}

/// Of a sum's error in each vector to what each element of the segment would be off by: the
/// element's own error plus sqrt(length / 20) times that of one of its neighbours.
void Screen::estimate(std::uint64_t row, std::uint64_t segment, std::span<const double> errors,
                      double lone) {
  const Interval columns = signs_->segment(segment);
  double most = 0;  // whatever the signs
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
    threshold.take({allowed, row, s});
    lone_threshold.take({(kLoneDeviations + kMissedDeviations) * one, row, s});
    const auto its = errors.subspan(s * kVectors, kVectors);
    double largest = 0;
    for (const double error : its) {
      const double size = std::isfinite(error) ? std::abs(error) : HUGE_VAL;
      largest = std::max(largest, size == 0 ? 0 : size / allowed);
    }
    if (largest > 1) {
      segments.push_back({largest, row, columns});
    } else {
      worst.take({largest, row, s});
    }
    // Without any rounding allowed, or with no number at all, each would stand out.
    if (std::isfinite(largest)) estimate(row, s, its, kLoneDeviations * one);
  }
}

void Screen::merge(const Screen& other) {
  elements.insert(elements.end(), other.elements.begin(), other.elements.end());
  segments.insert(segments.end(), other.segments.begin(), other.segments.end());
  worst.take(other.worst);
  threshold.take(other.threshold);
  lone_threshold.take(other.lone_threshold);
}

}  // namespace tessera::kernels
