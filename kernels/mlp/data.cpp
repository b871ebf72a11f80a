#include "kernels/mlp/data.h"

#include <cmath>
#include <numbers>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/training/course.h"
#include "sim/base/errors.h"
#include "sim/data/image_file.h"
#include "sim/data/numpy_file.h"
#include "sim/data/random.h"
#include "sim/report/units.h"

namespace tessera::mlp {

namespace {

// Random streams of the seed.
enum Stream : std::uint64_t { kPattern = 101, kLabel, kSign, kNoise };

constexpr std::uint32_t kWaves = 6;  // per class pattern

constexpr config::Names<Scaling, 3> kScalings{
    {{"none", Scaling::none}, {"unit", Scaling::unit}, {"standard", Scaling::standard}}};

/// An approximately normal number of variance 1: the sum of twelve uniform ones (Irwin-Hall).
double normal(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  double sum = 0;
  for (std::uint64_t i = 0; i < 12; ++i)
    sum += data::random_signed(seed, stream, 12 * index + i, 20) / 2.0;
  return sum;
}

/// Reads labels from a .npy or IDX file.
data::NumpyArray labels_in(const std::string& path) {
  if (!data::is_image_file(path)) return data::read_numpy(path);
  const std::vector<std::uint8_t> bytes = data::read_labels(path);
  return {"|u1", {bytes.size()}, {bytes.begin(), bytes.end()}};
}

}  // namespace

void describe(config::Fields& fields, DataOptions& data) {
  constexpr config::Range<std::uint32_t> kSide{1, 4096};
  constexpr std::uint64_t kMostInputs = 1U << 24;
  constexpr config::Range<std::uint32_t> kSamples{1, 1U << 24};
  fields.field({"width", "pixels across"}, data.width, kSide);
  fields.field({"height", "pixels down"}, data.height, kSide);
  fields.field({"channels", "channels per pixel"}, data.channels, kSide);
  fields.field({"classes", "number of classes"}, data.classes, {2, 4096});
  fields.field({"samples", "number of training images"}, data.samples, kSamples);
  fields.field(
      {"test_samples",
       "number of test images, which follow the training images and are evaluated after training"},
      data.test_samples, {0, 1U << 24});
  const std::uint64_t values = std::uint64_t{data.width} * data.height * data.channels;
  fields.require(values <= kMostInputs, "width",
                 "found {} x {} x {} values an image, allowed up to {}", data.width, data.height,
                 data.channels, kMostInputs);
  fields.file({"images",
               "a .npy file of shape [samples + test_samples, ...]; or a published data set: IDX "
               "(MNIST), CIFAR-10 or CIFAR-100 binary (a file or the folder), optionally gzip, of "
               "which the first images are used; synthetic images if not given"},
              data.images);
  fields.file({"labels",
               "labels of the images, a .npy file of shape [samples + test_samples] or IDX; not "
               "needed for CIFAR"},
              data.labels);
  const char* set = "images";
  const bool published = !data.images.empty() && data::is_image_file(data.images);
  fields.file({"test_images",
               "test images of a data set; if not given, test images follow the training images",
               "", false, published ? "" : set},
              data.test_images);
  fields.file({"test_labels", "labels of test_images", "", false, published ? "" : set},
              data.test_labels);
  fields.field({"scaling",
                "scaling of values from files, before rounding to dtype: none; unit: divided by "
                "255; standard: each channel to mean 0 and variance 1 over the training images",
                "", false, data.images.empty() ? set : ""},
               data.scaling, kScalings);
  fields.require(published || data.images.empty() == data.labels.empty(), "labels",
                 "found one of images and labels, allowed both or none");
  fields.require(!data.test_images.empty() || data.test_labels.empty(), "test_labels",
                 "found without test_images");
  fields.field(
      {"noise",
       "standard deviation of the noise on each value, with class patterns of mean square 1", "",
       false, data.images.empty() ? "" : "images"},
      data.noise, {0, 1e3});
}

Data::Data(const DataOptions& options, std::uint64_t seed)
    : seed_(seed),
      inputs_(options.width * options.height * options.channels),
      classes_(options.classes),
      noise_(options.noise) {
  if (options.images.empty()) {
    make_patterns(options);
    return;
  }
  if (!data::is_image_file(options.images)) {
    read_arrays(options);
  } else {
    const bool apart = !options.test_images.empty();
    read_set(options, {"images", options.images, "labels", options.labels,
                       options.samples + (apart ? 0ULL : options.test_samples)});
    if (apart)
      read_set(options, {"test_images", options.test_images, "test_labels", options.test_labels,
                         options.test_samples});
  }
  scale(options);
}

/// Makes class patterns: sums of kWaves long waves with random phases, of mean square 1.
void Data::make_patterns(const DataOptions& options) {
  patterns_.resize(std::size_t{classes_} * inputs_);
  for (std::uint32_t c = 0; c < classes_; ++c)
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

void Data::read_arrays(const DataOptions& options) {
  const std::uint64_t samples = std::uint64_t{options.samples} + options.test_samples;
  const data::NumpyArray images = data::read_numpy(options.images);
  data::require_finite(images, program::Type::f32, options.images);
  const std::uint64_t elements = std::accumulate(images.shape.begin(), images.shape.end(),
                                                 std::uint64_t{1}, std::multiplies());
  if (images.shape.empty() || images.shape[0] != samples || elements != samples * inputs_)
    throw KeyError("workload.data.images",
                   "found {} of shape [{}], allowed [{}, ...] with {} values an image",
                   options.images, fmt::join(images.shape, ", "), samples, inputs_);
  images_.assign(images.values.begin(), images.values.end());
  labels_ = training::labels_of(labels_in(options.labels), samples, classes_, options.labels);
}

void Data::read_set(const DataOptions& options, const Files& files) {
  const data::ImageFile found = data::read_images(files.images);
  const auto require = [&](const char* key, std::uint32_t is, std::uint32_t in_file) {
    if (is == in_file) return;
    throw KeyError(fmt::format("workload.data.{}", key), "found {}, allowed {}, as {} has", is,
                   in_file, files.images);
  };
  require("width", options.width, found.width);
  require("height", options.height, found.height);
  require("channels", options.channels, found.channels);
  const std::string key = fmt::format("workload.data.{}", files.images_key);
  if (found.images < files.count)
    throw KeyError(key, "found {} images in {}, allowed {} and more", found.images, files.images,
                   files.count);
  if (found.labels.empty() == files.labels.empty())
    throw KeyError(fmt::format("workload.data.{}", files.labels_key),
                   found.labels.empty()
                       ? fmt::format("not given, but {} has no labels", files.images)
                       : fmt::format("found beside {}, which has labels", files.images));
  const std::vector<std::uint8_t> labels =
      found.labels.empty() ? data::read_labels(files.labels) : found.labels;
  if (labels.size() != found.images)
    throw KeyError(fmt::format("workload.data.{}", files.labels_key),
                   "found {} labels in {}, allowed {}, as {} has images", labels.size(),
                   files.labels, found.images, files.images);
  for (std::uint64_t i = 0; i < files.count; ++i)
    labels_.push_back(training::label_of(labels[i], classes_, files.labels_key, labels_.size(),
                                         files.labels.empty() ? files.images : files.labels));
  const auto end = static_cast<std::ptrdiff_t>(files.count * inputs_);
  images_.insert(images_.end(), found.values.begin(), found.values.begin() + end);
  if (found.images > files.count)
    not_used_.push_back(fmt::format("images not used: {} of {} in {} (workload.data)",
                                    report::grouped(found.images - files.count),
                                    report::grouped(found.images), files.images));
}

/// Scales values. Means and variances per channel are sums in double, in the order of the samples.
void Data::scale(const DataOptions& options) {
  constexpr float kLargest = 255;
  if (options.scaling == Scaling::unit)
    for (float& value : images_) value /= kLargest;
  if (options.scaling != Scaling::standard) return;
  const std::uint64_t trained = std::uint64_t{options.samples} * inputs_;
  for (std::uint32_t channel = 0; channel < options.channels; ++channel) {
    double sum = 0;
    double squares = 0;
    for (std::uint64_t i = channel; i < trained; i += options.channels) sum += images_[i];
    const double count = static_cast<double>(trained) / options.channels;
    const double mean = sum / count;
    for (std::uint64_t i = channel; i < trained; i += options.channels)
      squares += (images_[i] - mean) * (images_[i] - mean);
    const double deviation = squares > 0 ? std::sqrt(squares / count) : 1;
    for (std::uint64_t i = channel; i < images_.size(); i += options.channels)
      images_[i] = static_cast<float>((images_[i] - mean) / deviation);
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
