#include "kernels/mlp/data.h"

#include <cmath>
#include <numbers>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/data/numpy_file.h"
#include "sim/data/random.h"

namespace tessera::mlp {

namespace {

// Streams of the seed.
enum Stream : std::uint64_t { kPattern = 101, kLabel, kSign, kNoise };

constexpr std::uint32_t kWaves = 6;  // that a pattern consists of

/// About normal, of variance 1: twelve uniform ones (Irwin-Hall).
double normal(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  double sum = 0;
  for (std::uint64_t i = 0; i < 12; ++i)
    sum += data::random_signed(seed, stream, 12 * index + i, 20) / 2.0;
  return sum;
}

}  // namespace

Data::Data(const DataOptions& options, std::uint64_t seed)
    : seed_(seed),
      inputs_(options.width * options.height * options.channels),
      classes_(options.classes),
      noise_(options.noise) {
  if (options.images.empty() != options.labels.empty())
    throw KeyError("workload.data.labels", "found one of images and labels, allowed both or none");
  if (options.images.empty())
    make_patterns(options);
  else
    read(options);
}

/// Sums of a few long waves with random phases, of mean square 1.
void Data::make_patterns(const DataOptions& options) {
  patterns_.resize(std::size_t{classes_} * inputs_);
  for (std::uint32_t c = 0; c < classes_; ++c) {
    for (std::uint32_t wave = 0; wave < kWaves; ++wave) {
      const auto draw = [&](std::uint64_t i) {
        return double{data::random_signed(seed_, kPattern, (c * kWaves + wave) * 4ULL + i, 20)};
      };
      const double across = 3 * draw(0);
      const double down = 3 * draw(1);
      const double phase = std::numbers::pi * draw(2);
      for (std::uint32_t i = 0; i < inputs_; ++i) {
        const std::uint32_t pixel = i / options.channels;
        const double x = double(pixel % options.width) / options.width;
        const std::uint32_t row = pixel / options.width;
        const double y = double(row) / options.height;
        const double angle = 2 * std::numbers::pi * (across * x + down * y) + phase;
        patterns_[std::size_t{c} * inputs_ + i] +=
            static_cast<float>(std::sqrt(2.0 / kWaves) * std::cos(angle));
      }
    }
  }
}

void Data::read(const DataOptions& options) {
  const std::uint64_t samples = std::uint64_t{options.samples} + options.test_samples;
  const data::NumpyArray images = data::read_numpy(options.images);
  data::require_finite(images, program::Type::f32, options.images);
  const std::uint64_t elements = std::accumulate(images.shape.begin(), images.shape.end(),
                                                 std::uint64_t{1}, std::multiplies());
  if (images.shape.empty() || images.shape[0] != samples || elements != samples * inputs_)
    throw KeyError("workload.data.images",
                   fmt::format("found {} of shape [{}], allowed [{}, ...] with {} values an image",
                               options.images, fmt::join(images.shape, ", "), samples, inputs_));
  const data::NumpyArray labels = data::read_numpy(options.labels);
  if (labels.shape != std::vector<std::uint64_t>{samples})
    throw KeyError("workload.data.labels",
                   fmt::format("found {} of shape [{}], allowed [{}]", options.labels,
                               fmt::join(labels.shape, ", "), samples));
  images_.assign(images.values.begin(), images.values.end());
  for (std::size_t i = 0; i < labels.values.size(); ++i) {
    const double label = labels.values[i];
    if (label < 0 || label >= options.classes || label != std::floor(label))
      throw KeyError("workload.data.labels",
                     fmt::format("found {} for sample {} of {}, allowed 0 to {}", label, i,
                                 options.labels, options.classes - 1));
    labels_.push_back(static_cast<std::uint32_t>(label));
  }
}

std::uint32_t Data::label(std::uint64_t sample) const {
  if (!labels_.empty()) return labels_[sample];
  return static_cast<std::uint32_t>(data::random_below(seed_, kLabel, sample, classes_));
}

double Data::pixel(std::uint64_t sample, std::uint64_t input) const {
  if (!images_.empty()) return images_[sample * inputs_ + input];
  const bool negative = (data::random_bits(seed_, kSign, sample) & 1) != 0;
  const double pattern = patterns_[std::size_t{label(sample)} * inputs_ + input];
  const double noisy =
      (negative ? -pattern : pattern) + noise_ * normal(seed_, kNoise, sample * inputs_ + input);
  return static_cast<float>(noisy);
}

}  // namespace tessera::mlp
