#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/fields.h"

/// Labelled streams of events: a seeded synthetic set shaped like a published one, or files.
namespace tessera::snn {

/// Inputs, classes and most events a step of the sets in arXiv 2311.04386.
enum class DataKind : std::uint8_t { nmnist, shd, dvs_gesture, custom };

/// Use of the polarity of recorded events.
enum class Polarity : std::uint8_t {
  both,    ///< inputs of its own each
  merged,  ///< one input for both
  on       ///< events of polarity off are left out
};

struct DataOptions {
  DataKind kind = DataKind::nmnist;
  std::uint32_t inputs = 0;      ///< for custom
  std::uint32_t classes = 0;     ///< for custom
  std::uint32_t max_events = 0;  ///< a step; 0: as published
  double rate = 0.01;            ///< events a step, of the inputs
  double noise = 0.1;            ///< part of the events that no class has made
  std::uint32_t samples = 480;   ///< to train on
  std::uint32_t test_samples = 0;
  std::string raster = {};           ///< .npy [samples, steps, inputs]; empty: synthetic or events
  std::string events = {};           ///< text, an event a line: sample step address [polarity]
  std::string labels = {};           ///< .npy [samples]
  std::string recordings = {};       ///< a published set of this kind
  std::string test_recordings = {};  ///< empty: test samples are behind the others
  std::uint32_t step_microseconds = 0;
  std::uint32_t resolution = 0;  ///< each way; 0: as published
  Polarity polarity = Polarity::both;
};
void describe(config::Fields& fields, DataOptions& data);
/// The keys of published sets, a part of describe(). recordings.cpp
void describe_recordings(config::Fields& fields, DataOptions& data);

/// The view of a published set's sensor; empty for other sets. recordings.cpp
struct Sensor {
  std::uint32_t side = 0;        ///< pixels each way, or channels
  std::uint32_t resolution = 0;  ///< that is left of them
  std::uint32_t inputs = 0;
};
Sensor sensor_of(const DataOptions& data);

/// Events of a sample, and those for which there is no place in the list of their step.
struct EventCount {
  std::uint64_t taken = 0;
  std::uint64_t left_out = 0;

  EventCount& operator+=(const EventCount& other) {
    taken += other.taken;
    left_out += other.left_out;
    return *this;
  }
};

/// `samples` streams to train on, then `test_samples` others.
class Data {
 public:
  /// Throws KeyError for files that do not fit the options.
  Data(const DataOptions& options, std::uint32_t steps, std::uint64_t seed);

  [[nodiscard]] std::uint32_t inputs() const { return inputs_; }
  [[nodiscard]] std::uint32_t classes() const { return classes_; }
  [[nodiscard]] std::uint32_t max_events() const { return max_events_; }
  [[nodiscard]] std::uint32_t label(std::uint64_t sample) const;
  /// Inputs that have an event in a step, each once, at most max_events.
  [[nodiscard]] std::vector<std::uint32_t> events(std::uint64_t sample, std::uint32_t step) const;
  [[nodiscard]] EventCount count_events(std::uint64_t sample) const;
  /// Events of files that are one with others, as they are of the same step and input; of rasters
  /// values that are neither 0 nor 1.
  [[nodiscard]] std::uint64_t merged() const { return merged_; }
  /// Events of recordings behind the last time step.
  [[nodiscard]] std::uint64_t cropped() const { return cropped_; }
  /// Events of recordings that are left out as they are of polarity off.
  [[nodiscard]] std::uint64_t turned_off() const { return turned_off_; }
  /// A line for each published set of which not all recordings are used.
  [[nodiscard]] const std::vector<std::string>& not_used() const { return not_used_; }

 private:
  [[nodiscard]] std::vector<std::uint32_t> all_events(std::uint64_t sample,
                                                      std::uint32_t step) const;
  void read_raster(const DataOptions& options);
  void read_events(const DataOptions& options);
  void read_recordings(const DataOptions& options);
  /// Takes the first `count` recordings of one of the sets.
  void read_set(const DataOptions& options, bool test, std::uint64_t count);
  /// Adds the events of the next step of files, in the order of their addresses, each once.
  void add_step(std::vector<std::uint32_t>& events);

  std::uint64_t seed_;
  std::uint64_t samples_;  ///< all of them
  std::uint32_t steps_;
  std::uint32_t inputs_, classes_, max_events_;
  double rate_, noise_;
  std::uint64_t merged_ = 0, cropped_ = 0, turned_off_ = 0;
  std::vector<std::string> not_used_;
  std::vector<std::uint16_t> events_;  ///< from files: a step's one behind the other
  std::vector<std::uint64_t> ends_;    ///< in events_, by sample and step; empty: not of files
  std::vector<std::uint32_t> labels_;
};

}  // namespace tessera::snn
