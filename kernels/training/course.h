#pragma once

#include "kernels/training/learning.h"

/// How a training goes on: which samples each step has, and how many steps there are.
namespace tessera::training {

/// Where batches come from: one that lies on the machine from the beginning, or a batch a step,
/// from the host or from memory outside the tiles.
enum class Feed : std::uint8_t { device, host, external };

/// Options that all trainings have.
struct Course {
  std::uint32_t batch = 50;
  std::uint32_t epochs = 1;
  std::uint32_t steps = 0;  ///< of training; 0: as many as epochs have
  bool train = true;        ///< else the samples to train on are only looked at
  std::string weights;      ///< folder of the weights to begin with; empty: seeded
  Feed feed = Feed::host;
  Learning learning;
  std::uint64_t seed = 1;

  /// Whether each step has another batch.
  [[nodiscard]] bool fed() const { return feed != Feed::device; }
  /// What options of training alone are refused beside; empty: they have a meaning.
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

/// All batches of a training, and of the tests behind it.
struct Turns {
  std::uint32_t steps, test_steps;
  Batches training, testing;

  /// Of samples to train on and samples behind them to test with: an epoch has samples / batch
  /// steps, rounded down.
  Turns(const Course& course, std::uint32_t samples, std::uint32_t test_samples);
  [[nodiscard]] std::uint64_t samples() const { return training.samples + testing.samples; }
};

}  // namespace tessera::training
