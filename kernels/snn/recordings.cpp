#include "sim/data/recordings.h"

#include <cmath>

#include <fmt/format.h>

#include "kernels/snn/data.h"
#include "sim/base/errors.h"
#include "sim/report/units.h"

/// Published sets of recordings as samples of time steps.
namespace tessera::snn {

namespace {

constexpr config::Names<Polarity, 3> kPolarities{
    {{"both", Polarity::both}, {"merged", Polarity::merged}, {"on", Polarity::on}}};

std::uint64_t read_kind(DataKind kind, const std::filesystem::path& path, bool test,
                        std::uint64_t count, const data::TakeRecording& take) {
  switch (kind) {
    case DataKind::nmnist:
      return data::read_nmnist(path, count, take);
    case DataKind::shd:
      return data::read_shd(path, count, take);
    default:
      return data::read_dvs_gesture(path / (test ? "trials_to_test.txt" : "trials_to_train.txt"),
                                    count, take);
  }
}

}  // namespace

Sensor sensor_of(const DataOptions& data) {
  Sensor sensor;
  if (data.kind == DataKind::custom) return sensor;
  const bool cochlea = data.kind == DataKind::shd;
  if (data.kind == DataKind::nmnist) sensor = {data::kNmnistSide, data::kNmnistSide};
  if (cochlea) sensor = {data::kShdChannels, data::kShdChannels};
  if (data.kind == DataKind::dvs_gesture) sensor = {data::kDvsGestureSide, 48};  // arXiv 2311.04386
  if (data.resolution > 0) sensor.resolution = data.resolution;
  const std::uint32_t polarities = data.polarity == Polarity::both ? 2 : 1;
  sensor.inputs = cochlea ? sensor.resolution : sensor.resolution * sensor.resolution * polarities;
  return sensor;
}

void describe_recordings(config::Fields& fields, DataOptions& data) {
  const bool custom = data.kind == DataKind::custom;
  fields.file({"recordings",
               "recordings of a published data set for training. nmnist: its folder Train, with "
               "the folders 0 to 9 of .bin files, in the order of file names; shd: its file (.h5, "
               "optionally gzip); dvs_gesture: its folder of .aedat files (AEDAT 3.1), _labels.csv "
               "and trials_to_train.txt",
               "", false, custom ? "kind" : ""},
              data.recordings);
  const char* none = data.recordings.empty() ? "recordings" : "";
  fields.file(
      {"test_recordings",
       "recordings for testing, in the same form; dvs_gesture: the trials of trials_to_test.txt; "
       "if not given, test samples are the recordings that follow the training samples",
       "", false, none},
      data.test_recordings);
  fields.field({"step_microseconds",
                "recordings: length of a time step; later events than the last step are dropped, "
                "and results give their number",
                "us", false, none},
               data.step_microseconds, {0, 1'000'000'000});
  fields.field({"resolution",
                "recordings: pixels per side (shd: channels) into which the sensor's are merged "
                "evenly; 0: 34 of 34, 700 of 700, 48 of 128",
                "", false, none},
               data.resolution, {0, data::kShdChannels});
  fields.field({"polarity",
                "recordings: both: events of polarity on use the upper half of the inputs; merged: "
                "both polarities use the same inputs; on: events of polarity off are dropped",
                "", false, data.kind == DataKind::shd && none[0] == 0 ? "kind" : none},
               data.polarity, kPolarities);
  if (none[0] != 0) return;
  const std::uint32_t side = sensor_of(data).side;
  fields.require(custom || data.resolution <= side, "resolution",
                 "found {}, allowed up to the sensor's {}", data.resolution, side);
  fields.require(data.step_microseconds > 0, "step_microseconds",
                 "found 0, allowed 1 to 1000000000, as recordings have times");
}

void Data::read_recordings(const DataOptions& options) {
  const bool apart = !options.test_recordings.empty();
  read_set(options, false, options.samples + (apart ? 0ULL : options.test_samples));
  if (apart) read_set(options, true, options.test_samples);
}

void Data::read_set(const DataOptions& options, bool test, std::uint64_t count) {
  const std::string& path = test ? options.test_recordings : options.recordings;
  const char* const key = test ? "workload.data.test_recordings" : "workload.data.recordings";
  const Sensor sensor = sensor_of(options);
  // With separate inputs, events of polarity on use the upper half.
  const std::uint32_t plane = sensor.resolution * sensor.resolution;
  std::vector<std::vector<std::uint32_t>> steps(steps_);
  const auto take = [&](const data::Recording& recording) {
    for (const data::SensorEvent& event : recording.events) {
      const double step = std::floor(event.microseconds / options.step_microseconds);
      if (step >= steps_) {
        ++cropped_;
        continue;
      }
      if (options.polarity == Polarity::on && !event.on) {
        ++turned_off_;
        continue;
      }
      const std::uint32_t x = event.x * sensor.resolution / sensor.side;
      const std::uint32_t y = event.y * sensor.resolution / sensor.side;
      const bool upper = sensor.inputs > plane && event.on;
      steps[static_cast<std::size_t>(step)].push_back((upper ? plane : 0) + y * sensor.resolution +
                                                      x);
    }
    for (auto& events : steps) add_step(events);
    labels_.push_back(recording.label);
  };
  std::uint64_t found = 0;
  try {
    found = read_kind(options.kind, path, test, count, take);
  } catch (const UserError& error) {
    throw KeyError(key, error.what());
  }
  if (found < count)
    throw KeyError(key, "found {} recordings in {}, allowed {} and more", found, path, count);
  if (found > count)
    not_used_.push_back(fmt::format("{}recordings not used: {} of {} in {} (workload.data)",
                                    test ? "test " : "", report::grouped(found - count),
                                    report::grouped(found), path));
}

}  // namespace tessera::snn
