#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

/// Labelled recordings of events in the file formats of published data sets.
namespace tessera::data {

/// A change at a pixel of a camera, or at a channel of a cochlea (y is 0).
struct SensorEvent {
  double microseconds = 0;  ///< since the recording began
  std::uint16_t x = 0;
  std::uint16_t y = 0;
  bool on = true;  ///< polarity
};

struct Recording {
  std::uint32_t label = 0;
  std::vector<SensorEvent> events;  ///< in file order
};

using TakeRecording = std::function<void(const Recording&)>;

// These functions pass the first `count` recordings, or all if there are fewer, to `take`, and
// return how many the data set holds. Malformed files are UserErrors that name file and position.

constexpr std::uint32_t kNmnistSide = 34;       ///< pixels each way
constexpr std::uint32_t kShdChannels = 700;     ///< channels of the cochlea model
constexpr std::uint32_t kDvsGestureSide = 128;  ///< pixels each way

/// N-MNIST (Orchard, Jayawant, Cohen, Thakor 2015): `folder` is Train or Test; its folders 0 to 9
/// hold one .bin file per recording. An event has 40 bits, most significant first: 8 of x, 8 of y,
/// one of polarity (1: on), 23 of microseconds. An event at y 240 only advances the time by 2^13
/// microseconds. Recordings are in the order of their file names across digits, which is the order
/// of MNIST's images.
std::uint64_t read_nmnist(const std::filesystem::path& folder, std::uint64_t count,
                          const TakeRecording& take);

/// Spiking Heidelberg Digits (Cramer, Stradmann, Schemmel, Zenke 2020), 20 classes: an HDF5 file,
/// optionally gzipped, of labels [recording], spikes/times (seconds) and spikes/units (channels),
/// both variable-length arrays [recording]. libhdf5 reads in a child process.
std::uint64_t read_shd(const std::filesystem::path& path, std::uint64_t count,
                       const TakeRecording& take);

/// DVS128 Gesture (Amir et al. 2017), 11 classes: `list` (trials_to_train.txt, trials_to_test.txt)
/// names AEDAT 3.1 files in its folder, one per line. Beside NAME.aedat, NAME_labels.csv has a
/// heading and lines `class,startTime_usec,endTime_usec`: each is a recording with label class - 1
/// over [start, end). Events between recordings are dropped.
std::uint64_t read_dvs_gesture(const std::filesystem::path& list, std::uint64_t count,
                               const TakeRecording& take);

/// The valid polarity events of an uncompressed AEDAT 3.1 file (iniVation) of a sensor of `side` x
/// `side` pixels. Skips packets of other events.
std::vector<SensorEvent> read_aedat(const std::filesystem::path& path, std::uint32_t side);

/// Serialises the first `count` recordings of an SHD file held in memory, for read_shd(): 64 bits
/// with the file's number of recordings; per recording 64 bits each of label and number of events,
/// then times (f32, seconds) and channels (32 bits). Call it in a child process, as parse_nir().
std::string parse_shd(const std::string& name, std::string bytes, std::uint64_t count);

}  // namespace tessera::data
