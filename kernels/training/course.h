#pragma once

#include <memory>

#include "kernels/external.h"
#include "kernels/training/learning.h"
#include "sim/data/numpy_file.h"

/// How a training goes on: which samples each step has, and how many steps there are.
namespace tessera::training {

/// Where batches come from: one that lies on the machine from the beginning, or a batch a step,
/// from the host or from memory outside the tiles.
enum class Feed : std::uint8_t { device, host, external };

/// Options that all trainings have.
struct Course {
  std::uint32_t batch = 50;
  std::uint32_t epochs = 1;
  std::uint32_t steps = 0;  ///< training steps; 0: as many as epochs have
  bool train = true;        ///< else the samples to train on are only looked at
  std::string weights;      ///< folder of the weights to begin with; empty: seeded
  Feed feed = Feed::host;
  Learning learning;
  std::uint64_t seed = 1;

  /// True if each step has another batch.
  [[nodiscard]] bool fed() const { return feed != Feed::device; }
  /// The key beside which options of training alone are refused; empty: they have a meaning.
  [[nodiscard]] std::string_view untrained() const { return train ? "" : "train"; }
};
/// For so many samples to train on and to test with, in batches of at most `most`; `weights` says
/// what the files are that they are read from.
void describe(config::Fields& fields, Course& course, std::uint32_t samples,
              std::uint32_t test_samples, std::uint32_t most, const char* weights);

/// Batches in the order of the samples, each from where the one before ended, from the first sample
/// again behind the last.
struct Batches {
  std::uint64_t first, samples;
  std::uint32_t batch;
  bool fed = true;  ///< else all are the first

  [[nodiscard]] std::uint64_t sample(std::uint64_t number, std::uint64_t row) const {
    return first + ((fed ? number : 0) * batch + row) % samples;
  }
};

struct Turns {
  std::uint32_t steps, test_steps;
  Batches training, testing;

  /// Takes samples to train on and samples behind them to test with: an epoch has samples / batch
  /// steps, rounded down.
  Turns(const Course& course, std::uint32_t samples, std::uint32_t test_samples);
  [[nodiscard]] std::uint64_t samples() const { return training.samples + testing.samples; }
};

/// A label as a number of `classes`. Throws KeyError at workload.data.KEY for what is none:
/// `sample` of `file`.
std::uint32_t label_of(double label, std::uint32_t classes, const char* key, std::uint64_t sample,
                       const std::string& file);
/// Labels of so many samples in `file`, from its array. Throws KeyError likewise.
std::vector<std::uint32_t> labels_of(const data::NumpyArray& array, std::uint64_t samples,
                                     std::uint32_t classes, const std::string& file);

class OuterBatches {
 public:
  /// Adds what the host would give a tile of a copy: places on it, and the contents of the n-th
  /// transfer.
  using Pieces = std::function<void(plan::Tile, plan::HostPieces&)>;
  /// `batches` of all copies, of which `times` are brought.
  OuterBatches(const plan::Copies& copies, const Batches& batches, std::uint32_t times,
               const Pieces& pieces);

  /// Batches that differ: where samples are gone through again, a panel serves again as soon as one
  /// begins where an earlier one did.
  static std::uint64_t panels(const Batches& batches, std::uint32_t times);

  /// Rounds that bring one batch each into `arrays`, those of the pieces; states the buffer.
  [[nodiscard]] plan::Rounds rounds(plan::Description& description, std::string_view name,
                                    std::vector<BufferId> arrays, kernels::Loads loads) const;

 private:
  struct Part {
    plan::Tile tile;  ///< number in the machine
    std::uint64_t begin;
    std::uint32_t copy;
    program::HostPiece piece;
  };
  void fill(std::uint64_t panel, std::uint64_t at, std::span<std::byte> into) const;

  std::uint32_t times_, copies_;
  plan::Tile tiles_;
  kernels::PanelFile file_;
  std::shared_ptr<std::vector<Part>> parts_;  ///< a panel's parts
};

}  // namespace tessera::training
