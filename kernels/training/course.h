#pragma once

#include <memory>

#include "kernels/external.h"
#include "kernels/training/learning.h"
#include "sim/data/numpy_file.h"

/// The course of a training: the number of steps, and the samples of each.
namespace tessera::training {

/// Source of batches: one batch that is on the machine from the beginning, or a new batch per step
/// from the host or from external memory.
enum class Feed : std::uint8_t { device, host, external };

/// Options common to all trainings.
struct Course {
  std::uint32_t batch = 50;
  std::uint32_t epochs = 1;
  std::uint32_t steps = 0;  ///< training steps; 0: those of `epochs`
  bool train = true;        ///< false: forward pass only
  std::string weights;      ///< folder of initial weights; empty: seeded
  Feed feed = Feed::host;
  Learning learning;
  std::uint64_t seed = 1;

  /// True if each step takes a new batch.
  [[nodiscard]] bool fed() const { return feed != Feed::device; }
  /// The key that makes training-only options invalid; empty: they are valid.
  [[nodiscard]] std::string_view untrained() const { return train ? "" : "train"; }
};
/// Describes the keys, for `samples` training and `test_samples` test samples and batches of up to
/// `most`; `weights` describes the files of weights.
void describe(config::Fields& fields, Course& course, std::uint32_t samples,
              std::uint32_t test_samples, std::uint32_t most, const char* weights);

/// Consecutive batches in the order of the samples; after the last sample they continue at the
/// first.
struct Batches {
  std::uint64_t first, samples;
  std::uint32_t batch;
  bool fed = true;  ///< false: every batch is the first

  [[nodiscard]] std::uint64_t sample(std::uint64_t number, std::uint64_t row) const {
    return first + ((fed ? number : 0) * batch + row) % samples;
  }
};

struct Turns {
  std::uint32_t steps, test_steps;
  Batches training, testing;

  /// `samples` training samples are followed by `test_samples` test samples. An epoch has
  /// samples / batch steps, rounded down.
  Turns(const Course& course, std::uint32_t samples, std::uint32_t test_samples);
  [[nodiscard]] std::uint64_t samples() const { return training.samples + testing.samples; }
};

/// The class number of a label. Throws KeyError at workload.data.KEY, naming `sample` of `file`, if
/// it is not an integer below `classes`.
std::uint32_t label_of(double label, std::uint32_t classes, const char* key, std::uint64_t sample,
                       const std::string& file);
/// The first `samples` labels in `array`, which was read from `file`. Throws KeyError likewise.
std::vector<std::uint32_t> labels_of(const data::NumpyArray& array, std::uint64_t samples,
                                     std::uint32_t classes, const std::string& file);

class OuterBatches {
 public:
  /// Adds the pieces that the host would send to a tile of a copy: places there, and the contents
  /// of the n-th transfer.
  using Pieces = std::function<void(plan::Tile, plan::HostPieces&)>;
  /// The batches of all copies; `times` of them are loaded.
  OuterBatches(const plan::Copies& copies, const Batches& batches, std::uint32_t times,
               const Pieces& pieces);

  /// Number of different batches: a batch that begins at the same sample as an earlier one reuses
  /// its panel.
  static std::uint64_t panels(const Batches& batches, std::uint32_t times);

  /// Adds the external buffer and returns rounds that load one batch each into `arrays`, those of
  /// the pieces.
  [[nodiscard]] plan::Rounds rounds(plan::Description& description, std::string_view name,
                                    std::vector<BufferId> arrays, kernels::Loads loads) const;

 private:
  struct Part {
    plan::Tile tile;  ///< tile number in the machine
    std::uint64_t begin;
    std::uint32_t copy;
    program::HostPiece piece;
  };
  void fill(std::uint64_t panel, std::uint64_t at, std::span<std::byte> into) const;

  std::uint32_t times_, copies_;
  plan::Tile tiles_;
  kernels::PanelFile file_;
  std::shared_ptr<std::vector<Part>> parts_;  ///< parts of a panel
};

}  // namespace tessera::training
