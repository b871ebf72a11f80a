#include "kernels/check/signs.h"

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
      signs_[j * kVectors + v] = (bits >> (v + 1) & 1) != 0 ? 1 : -1;
    }
  }
}

template <class Number>
void SignVectors::add_signed(std::span<const Number> row, double scale,
                             std::span<double> sums) const {
  for (std::uint64_t s = 0; s < segments(); ++s) {
    double all[kVectors] = {};
    for (std::uint64_t j = segment(s).begin; j < segment(s).end; ++j) {
      const auto value = static_cast<double>(row[j]);
      for (std::size_t v = 0; v < kVectors; ++v) all[v] += value * signs_[j * kVectors + v];
    }
    for (std::size_t v = 0; v < kVectors; ++v) sums[s * kVectors + v] += scale * all[v];
  }
}

void SignVectors::add(std::span<const float> row, double scale, std::span<double> sums) const {
  add_signed(row, scale, sums);
}
void SignVectors::add(std::span<const double> row, double scale, std::span<double> sums) const {
  add_signed(row, scale, sums);
}

void SignVectors::estimate(std::uint64_t segment_number, std::span<const double> errors,
                           std::span<double> elements) const {
  const Interval columns = segment(segment_number);
  for (std::uint64_t j = columns.begin; j < columns.end; ++j) {
    double part[4] = {};
    for (std::size_t v = 0; v < kVectors; ++v) part[v % 4] += errors[v] * signs_[j * kVectors + v];
    elements[j - columns.begin] = (part[0] + part[1] + (part[2] + part[3])) / kVectors;
  }
}

void sort_suspects(std::vector<Suspect>& suspects) {
  std::sort(suspects.begin(), suspects.end(), [](const Suspect& a, const Suspect& b) {
    return std::tuple(-a.ratio, a.row, a.columns.begin) <
           std::tuple(-b.ratio, b.row, b.columns.begin);
  });
}

void Screen::look(std::uint64_t row, std::span<const double> errors,
                  std::span<const double> deviations) {
  constexpr std::size_t kVectors = SignVectors::kVectors;
  for (std::uint64_t s = 0; s < signs_.segments(); ++s) {
    const Interval columns = signs_.segment(s);
    const auto length = static_cast<double>(columns.size());
    const double allowed = kDeviations * deviations[s];
    const double lone = kLoneDeviations * deviations[s] * std::sqrt(1.0 / kVectors + 1.0 / length);
    threshold = std::max(threshold, allowed);
    lone_threshold = std::max(lone_threshold, 2 * lone);
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
    if (!std::isfinite(largest)) continue;  // each would stand out
    signs_.estimate(s, its, estimates_);
    for (std::uint64_t j = 0; j < columns.size(); ++j) {
      if (std::abs(estimates_[j]) > lone) {
        elements.push_back(
            {std::abs(estimates_[j]) / lone, row, {columns.begin + j, columns.begin + j + 1}});
      }
    }
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
