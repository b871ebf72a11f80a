#include "kernels/snn/data.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/training/course.h"
#include "sim/base/errors.h"
#include "sim/data/numpy_file.h"
#include "sim/data/random.h"
#include "sim/data/read_file.h"

namespace tessera::snn {

namespace {

enum Stream : std::uint64_t { kLabel = 301, kOffset, kCount, kEvent, kStart };  // of the seed

constexpr config::Names<DataKind, 4> kKinds{{{"nmnist", DataKind::nmnist},
                                             {"shd", DataKind::shd},
                                             {"dvs_gesture", DataKind::dvs_gesture},
                                             {"custom", DataKind::custom}}};

struct Shape {
  std::uint32_t inputs, classes, max_events;
};

/// arXiv 2311.04386, benchmark configurations.
Shape shape_of(const DataOptions& data) {
  const std::uint32_t inputs = sensor_of(data).inputs;
  switch (data.kind) {
    case DataKind::nmnist:
      return {inputs, 10, std::min(inputs, 32U)};
    case DataKind::shd:
      return {inputs, 20, std::min(inputs, 48U)};
    case DataKind::dvs_gesture:
      return {inputs, 11, std::min(inputs, 96U)};
    default:
      return {data.inputs, data.classes, std::min(data.inputs, 64U)};
  }
}

/// A line of a text file of events.
struct Event {
  std::array<std::uint64_t, 4> numbers{};
  std::size_t columns = 0;  ///< 0: empty line or comment; 5: more numbers, or not numbers
};
Event event_of(std::string_view line) {
  constexpr std::size_t kWrong = 5;
  line = line.substr(0, line.find('#'));
  Event event;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(" ,;\t\r"), line.size()));
    if (line.empty()) return event;
    const std::size_t size = std::min(line.find_first_of(" ,;\t\r"), line.size());
    if (event.columns == event.numbers.size()) return {{}, kWrong};
    const char* const stop = line.data() + size;
    const auto [behind, error] = std::from_chars(line.data(), stop, event.numbers[event.columns]);
    if (error != std::errc() || behind != stop) return {{}, kWrong};
    ++event.columns;
    line.remove_prefix(size);
  }
}

/// Uniform in [0, 1).
double uniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return static_cast<double>(data::random_bits(seed, stream, index) >> 11) * 0x1p-53;
}

}  // namespace

void describe(config::Fields& fields, DataOptions& data) {
  constexpr config::Range<std::uint32_t> kSamples{1, 1U << 24};
  fields.field(
      {"kind",
       "published data set whose inputs, classes and event rate the streams have, or custom"},
      data.kind, kKinds);
  const bool custom = data.kind == DataKind::custom;
  fields.field({"inputs", "number of inputs of custom streams", "", false, custom ? "" : "kind"},
               data.inputs, {0, 65535});
  fields.field({"classes", "number of classes of custom streams", "", false, custom ? "" : "kind"},
               data.classes, {0, 4096});
  fields.require(!custom || (data.inputs > 0 && data.classes > 0),
                 data.inputs > 0 ? "classes" : "inputs",
                 "found {} inputs and {} classes, allowed 1 or more of both (workload.data.inputs, "
                 "workload.data.classes)",
                 data.inputs, data.classes);
  fields.field({"max_events",
                "maximum inputs with an event in a step: of more, this many are kept, evenly "
                "spaced in the order of their addresses, and results give the number dropped; 0: "
                "as published (32, 48, 96), custom 64"},
               data.max_events, {0, 65535});
  fields.file({"raster",
               "a .npy file of shape [samples + test_samples, time_steps, inputs]; every nonzero "
               "value is one event"},
              data.raster);
  fields.file({"events",
               "a text file, one event per line: sample, time step, address, sorted by sample and "
               "step; with a fourth number on all lines, the polarity 0 or 1, the input is address "
               "+ polarity * inputs / 2. Several events of an input in one step count once"},
              data.events);
  fields.file({"labels", "a .npy file of shape [samples + test_samples]: the class of each sample"},
              data.labels);
  describe_recordings(fields, data);
  const char* files = !data.recordings.empty() ? "recordings"
                      : data.raster.empty()    ? "events"
                                               : "raster";
  const bool labelled = !data.raster.empty() || !data.events.empty();
  const bool synthetic = !labelled && data.recordings.empty();
  fields.field({"rate", "average share of the inputs with an event in a step", "", false,
                synthetic ? "" : files},
               data.rate, {0, 1});
  fields.field({"noise", "share of the events at random inputs", "", false, synthetic ? "" : files},
               data.noise, {0, 1});
  fields.field({"samples",
                "number of training streams, the first ones of files, in order without shuffling; "
                "after the last the first follows again"},
               data.samples, kSamples);
  fields.field({"test_samples",
                "number of test streams, evaluated once after training, in whole batches; an "
                "incomplete last batch is not used"},
               data.test_samples, {0, 1U << 24});
  fields.require(data.raster.empty() || data.events.empty(), "events",
                 "found with raster, allowed one of both");
  fields.require(!labelled || data.recordings.empty(), "recordings",
                 "found with raster or events, allowed one of them");
  fields.require(labelled != data.labels.empty(), "labels",
                 labelled    ? "not given, but required"
                 : synthetic ? "found without raster or events"
                             : "found with recordings, which have labels");
}

Data::Data(const DataOptions& options, std::uint32_t steps, std::uint64_t seed)
    : seed_(seed),
      samples_(std::uint64_t{options.samples} + options.test_samples),
      steps_(steps),
      inputs_(shape_of(options).inputs),
      classes_(shape_of(options).classes),
      max_events_(options.max_events > 0 ? std::min(options.max_events, inputs_)
                                         : shape_of(options).max_events),
      rate_(options.rate),
      noise_(options.noise) {
  if (!options.raster.empty()) read_raster(options);
  if (!options.events.empty()) read_events(options);
  if (!options.labels.empty())
    labels_ =
        training::labels_of(data::read_numpy(options.labels), samples_, classes_, options.labels);
  if (!options.recordings.empty()) read_recordings(options);
}

void Data::read_raster(const DataOptions& options) {
  const data::NumpyArray raster = data::read_numpy(options.raster);
  if (raster.shape != std::vector<std::uint64_t>{samples_, steps_, inputs_})
    throw KeyError("workload.data.raster", "found {} of shape [{}], allowed [{}, {}, {}]",
                   options.raster, fmt::join(raster.shape, ", "), samples_, steps_, inputs_);
  std::vector<std::uint32_t> events;
  for (std::size_t i = 0; i < raster.values.size(); ++i) {
    if (raster.values[i] != 0) events.push_back(static_cast<std::uint32_t>(i % inputs_));
    if (raster.values[i] != 0 && raster.values[i] != 1) ++merged_;
    if ((i + 1) % inputs_ == 0) add_step(events);
  }
}

/// Requires events in order of sample and time step. A fourth column is the polarity: 1 selects the
/// upper half of the inputs.
void Data::read_events(const DataOptions& options) {
  const std::string text = data::read_file(options.events);
  std::vector<std::uint32_t> events;
  std::uint64_t before = 0;
  std::size_t columns = 0;
  std::size_t line = 0;
  const auto fail = [&](const std::string& problem) {
    throw KeyError("workload.data.events", "{}, line {}: {}", options.events, line, problem);
  };
  for (std::size_t at = 0; at < text.size();) {
    ++line;
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const Event event = event_of(std::string_view(text).substr(at, end - at));
    at = end + 1;
    if (event.columns == 0) continue;
    if (columns == 0) columns = event.columns;
    if (event.columns < 3 || event.columns > 4 || event.columns != columns)
      fail(fmt::format("allowed {}", columns == 4 && event.columns == 3
                                         ? "a polarity too, as on the first line"
                                     : columns == 3 && event.columns == 4
                                         ? "no polarity, as on the first line"
                                         : "three numbers: sample, time step, address; or four, "
                                           "with a polarity of 0 or 1"));
    if (columns == 4 && inputs_ % 2 != 0)
      fail(fmt::format("found a polarity, allowed with an even number of inputs, not {}", inputs_));
    const std::uint64_t polarities = columns - 2;
    constexpr std::array<const char*, 4> kNames{"sample", "time step", "address", "polarity"};
    const std::array<std::uint64_t, 4> bounds{samples_, steps_, inputs_ / polarities, polarities};
    for (std::size_t i = 0; i < columns; ++i)
      if (event.numbers[i] >= bounds[i])
        fail(fmt::format("found {} {}, allowed 0 to {}", kNames[i], event.numbers[i],
                         bounds[i] - 1));
    const std::uint64_t place = event.numbers[0] * steps_ + event.numbers[1];
    if (place < before)
      fail(fmt::format("sample {} step {} follows sample {} step {}, allowed in order",
                       event.numbers[0], event.numbers[1], before / steps_, before % steps_));
    for (; before < place; ++before) add_step(events);
    events.push_back(static_cast<std::uint32_t>(event.numbers[2] + event.numbers[3] * bounds[2]));
  }
  while (ends_.size() < samples_ * steps_) add_step(events);
}

void Data::add_step(std::vector<std::uint32_t>& events) {
  std::sort(events.begin(), events.end());
  const auto end = std::unique(events.begin(), events.end());
  merged_ += static_cast<std::uint64_t>(events.end() - end);
  events_.insert(events_.end(), events.begin(), end);
  ends_.push_back(events_.size());
  events.clear();
}

std::uint32_t Data::label(std::uint64_t sample) const {
  if (!labels_.empty()) return labels_[sample];
  return static_cast<std::uint32_t>(data::random_below(seed_, kLabel, sample, classes_));
}

/// A synthetic class is a spot of inputs that moves from its own start by inputs / classes over all
/// steps, upwards for even classes, else downwards. Samples are offset by up to an eighth of that.
std::vector<std::uint32_t> Data::all_events(std::uint64_t sample, std::uint32_t step) const {
  if (!ends_.empty()) {
    const std::uint64_t place = sample * steps_ + step;
    const std::uint64_t begin = place == 0 ? 0 : ends_[place - 1];
    return {events_.data() + begin, events_.data() + ends_[place]};
  }
  const std::uint32_t own = label(sample);
  const double each = 1.0 / classes_;
  const double way = (own % 2 == 0 ? 1 : -1) * each * step / steps_;
  const double late = each * 0.25 * (uniform(seed_, kOffset, sample) - 0.5);
  const double centre = each * own + uniform(seed_, kStart, own) * each * 0.25 + way + late;
  const double mean = rate_ * inputs_;
  const std::uint64_t index = sample * steps_ + step;
  const double drawn = uniform(seed_, kCount, index);
  // A mean below one is the probability of one event; rounding would leave few inputs without any.
  const auto count = static_cast<std::uint64_t>(
      mean < 1 ? std::floor(mean + drawn) : std::floor(mean * (0.75 + 0.5 * drawn) + 0.5));
  std::vector<std::uint32_t> events;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t draw = 3 * (index * inputs_ + i);
    const double far = uniform(seed_, kEvent, draw + 1) + uniform(seed_, kEvent, draw + 2) - 1;
    const bool stray = uniform(seed_, kEvent, draw) < noise_;
    double place = stray ? uniform(seed_, kEvent, draw + 1) : centre + each * 0.5 * far;
    place -= std::floor(place);
    events.push_back(std::min(static_cast<std::uint32_t>(place * inputs_), inputs_ - 1));
  }
  std::sort(events.begin(), events.end());
  events.erase(std::unique(events.begin(), events.end()), events.end());
  return events;
}

std::vector<std::uint32_t> Data::events(std::uint64_t sample, std::uint32_t step) const {
  std::vector<std::uint32_t> all = all_events(sample, step);
  if (all.size() <= max_events_) return all;
  // Keeps max_events_ events, evenly spaced.
  std::vector<std::uint32_t> kept(max_events_);
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = all[i * all.size() / kept.size()];
  return kept;
}

EventCount Data::count_events(std::uint64_t sample) const {
  EventCount count;
  for (std::uint32_t step = 0; step < steps_; ++step) {
    const std::uint64_t all = all_events(sample, step).size();
    count.taken += std::min<std::uint64_t>(all, max_events_);
    count.left_out += all - std::min<std::uint64_t>(all, max_events_);
  }
  return count;
}

}  // namespace tessera::snn
