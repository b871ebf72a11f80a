#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/fields.h"

/// Labelled images: a seeded synthetic set, or files.
namespace tessera::mlp {

/// How values of files are scaled.
enum class Scaling : std::uint8_t {
  none,     ///< unchanged
  unit,     ///< divided by 255: 0 to 1
  standard  ///< by channel: mean 0 and variance 1 over the training images
};

struct DataOptions {
  std::uint32_t width = 32;
  std::uint32_t height = 32;
  std::uint32_t channels = 1;
  std::uint32_t classes = 10;
  std::uint32_t samples = 2000;  ///< training images
  std::uint32_t test_samples = 500;
  double noise = 3;  ///< standard deviation; patterns have 1
  /// .npy [samples + test_samples, ...] or a data set's file; empty: synthetic
  std::string images = {};
  std::string labels = {};       ///< .npy [samples + test_samples] or a data set's
  std::string test_images = {};  ///< as images; empty: they follow the training images
  std::string test_labels = {};
  Scaling scaling = Scaling::none;
};

void describe(config::Fields& fields, DataOptions& data);

/// `samples` training images, then `test_samples` test images. Synthetic: each class has a smooth
/// pattern, and an image is its class's pattern or its negative, with noise. All classes then have
/// the same mean, and no linear layer alone can tell them apart.
class Data {
 public:
  /// Throws KeyError for files that contradict the options.
  Data(const DataOptions& options, std::uint64_t seed);

  [[nodiscard]] std::uint32_t inputs() const { return inputs_; }
  [[nodiscard]] std::uint32_t label(std::uint64_t sample) const;
  [[nodiscard]] double pixel(std::uint64_t sample, std::uint64_t input) const;
  /// One line per file with unused images.
  [[nodiscard]] const std::vector<std::string>& not_used() const { return not_used_; }

 private:
  void read_arrays(const DataOptions& options);
  /// Files of a data set; their first `count` images are the next samples.
  struct Files {
    const char* images_key;
    const std::string& images;
    const char* labels_key;
    const std::string& labels;
    std::uint64_t count;
  };
  void read_set(const DataOptions& options, const Files& files);
  void scale(const DataOptions& options);
  void make_patterns(const DataOptions& options);

  std::uint64_t seed_;
  std::uint32_t inputs_;
  std::uint32_t classes_;
  double noise_;
  std::vector<float> patterns_;  ///< [class][input]; empty: from files
  std::vector<float> images_;
  std::vector<std::uint32_t> labels_;
  std::vector<std::string> not_used_;
};

}  // namespace tessera::mlp
