#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/fields.h"

/// Labelled streams of events: a seeded synthetic set shaped like a published one, or files.
namespace tessera::snn {

/// Data sets of arXiv 2311.04386, which fix inputs, classes and the most events per step; or
/// custom.
enum class DataKind : std::uint8_t { nmnist, shd, dvs_gesture, custom };

/// Use of the polarity of recorded events.
enum class Polarity : std::uint8_t {
  both,    ///< separate inputs for on and off
  merged,  ///< one input for both
  on       ///< events of polarity off are left out
};

struct DataOptions {
  DataKind kind = DataKind::nmnist;
  std::uint32_t inputs = 0;      ///< for custom
  std::uint32_t classes = 0;     ///< for custom
  std::uint32_t max_events = 0;  ///< per step; 0: as published
  double rate = 0.01;            ///< events per input and step
  double noise = 0.1;            ///< share of events that are independent of the class
  std::uint32_t samples = 480;   ///< training samples
  std::uint32_t test_samples = 0;
  std::string raster = {};           ///< .npy [samples, steps, inputs]; empty: synthetic or events
  std::string events = {};           ///< text, one event per line: sample step address [polarity]
  std::string labels = {};           ///< .npy [samples]
  std::string recordings = {};       ///< a published set of this kind
  std::string test_recordings = {};  ///< empty: test samples follow the training samples
  std::uint32_t step_microseconds = 0;
  std::uint32_t resolution = 0;  ///< pixels per side, or channels; 0: as published
  Polarity polarity = Polarity::both;
};
void describe(config::Fields& fields, DataOptions& data);
/// Describes the keys of published sets; called by describe(). Defined in recordings.cpp.
void describe_recordings(config::Fields& fields, DataOptions& data);

/// The sensor of a published set; empty for other sets. Defined in recordings.cpp.
struct Sensor {
  std::uint32_t side = 0;        ///< pixels per side, or channels
  std::uint32_t resolution = 0;  ///< pixels or channels after downscaling
  std::uint32_t inputs = 0;
};
Sensor sensor_of(const DataOptions& data);

/// Events of a sample: those taken, and those for which their step's list has no room.
struct EventCount {
  std::uint64_t taken = 0;
  std::uint64_t left_out = 0;

  EventCount& operator+=(const EventCount& other) {
    taken += other.taken;
    left_out += other.left_out;
    return *this;
  }
};

/// `samples` training streams, then `test_samples` test streams.
class Data {
 public:
  /// Throws KeyError for files that contradict the options.
  Data(const DataOptions& options, std::uint32_t steps, std::uint64_t seed);

  [[nodiscard]] std::uint32_t inputs() const { return inputs_; }
  [[nodiscard]] std::uint32_t classes() const { return classes_; }
  [[nodiscard]] std::uint32_t max_events() const { return max_events_; }
  [[nodiscard]] std::uint32_t label(std::uint64_t sample) const;
  /// Distinct inputs with an event in a step, at most max_events.
  [[nodiscard]] std::vector<std::uint32_t> events(std::uint64_t sample, std::uint32_t step) const;
  [[nodiscard]] EventCount count_events(std::uint64_t sample) const;
  /// Events of files merged with another of the same step and input; for rasters, values other than
  /// 0 and 1.
  [[nodiscard]] std::uint64_t merged() const { return merged_; }
  /// Events of recordings after the last time step.
  [[nodiscard]] std::uint64_t cropped() const { return cropped_; }
  /// Events of recordings left out because their polarity is off.
  [[nodiscard]] std::uint64_t turned_off() const { return turned_off_; }
  /// One line per published set with unused recordings.
  [[nodiscard]] const std::vector<std::string>& not_used() const { return not_used_; }

 private:
  [[nodiscard]] std::vector<std::uint32_t> all_events(std::uint64_t sample,
                                                      std::uint32_t step) const;
  void read_raster(const DataOptions& options);
  void read_events(const DataOptions& options);
  void read_recordings(const DataOptions& options);
  /// Reads the first `count` recordings of the training or test set.
  void read_set(const DataOptions& options, bool test, std::uint64_t count);
  /// Appends the next step's events, sorted by address, without duplicates.
  void add_step(std::vector<std::uint32_t>& events);

  std::uint64_t seed_;
  std::uint64_t samples_;  ///< training and test samples
  std::uint32_t steps_;
  std::uint32_t inputs_, classes_, max_events_;
  double rate_, noise_;
  std::uint64_t merged_ = 0, cropped_ = 0, turned_off_ = 0;
  std::vector<std::string> not_used_;
  std::vector<std::uint16_t> events_;  ///< from files, step by step
  std::vector<std::uint64_t> ends_;    ///< in events_, by sample and step; empty: synthetic
  std::vector<std::uint32_t> labels_;
};

}  // namespace tessera::snn
