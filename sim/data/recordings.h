#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

/// Labelled recordings of events as the files of published data sets hold them.
namespace tessera::data {

/// A pixel of a camera, or a channel of a cochlea (y is 0), has seen a change.
struct SensorEvent {
  double microseconds = 0;  ///< since the recording began
  std::uint16_t x = 0;
  std::uint16_t y = 0;
  bool on = true;  ///< polarity
};

struct Recording {
  std::uint32_t label = 0;
  std::vector<SensorEvent> events;  ///< as they stand in the file
};

using TakeRecording = std::function<void(const Recording&)>;

// All of these hand the first `count` recordings, or as many as there are, to `take`, and return
// how many there are. Files that do not keep to the format are UserErrors that name file and place.

constexpr std::uint32_t kNmnistSide = 34;       ///< pixels each way
constexpr std::uint32_t kShdChannels = 700;     ///< channels of the cochlea model
constexpr std::uint32_t kDvsGestureSide = 128;  ///< pixels each way

/// N-MNIST (Orchard, Jayawant, Cohen, Thakor 2015): `folder` is Train or Test, in which the folders
/// 0 to 9 hold a .bin file a recording: events of 40 bits, the highest first: 8 of x, 8 of y, one
/// of polarity (1: on), 23 of microseconds. An event at y 240 is none: it says that time has gone
/// on by 2^13 microseconds more. Recordings are in the order of their files' names, which is that
/// of MNIST's images, whatever their digits.
std::uint64_t read_nmnist(const std::filesystem::path& folder, std::uint64_t count,
                          const TakeRecording& take);

/// Spiking Heidelberg Digits (Cramer, Stradmann, Schemmel, Zenke 2020), 20 classes: an HDF5 file,
/// compressed by gzip or not, of labels [recording], spikes/times (seconds) and spikes/units
/// (channels), arrays of varying length [recording]. libhdf5 reads in a process of its own.
std::uint64_t read_shd(const std::filesystem::path& path, std::uint64_t count,
                       const TakeRecording& take);

/// DVS128 Gesture (Amir et al. 2017), 11 classes: `list` (trials_to_train.txt, trials_to_test.txt)
/// names AEDAT 3.1 files beside it, a line each; beside NAME.aedat lies NAME_labels.csv with lines
/// `class,startTime_usec,endTime_usec` below a heading: each is a recording, of label class - 1,
/// from its start to before its end. Events between recordings are nobody's.
std::uint64_t read_dvs_gesture(const std::filesystem::path& list, std::uint64_t count,
                               const TakeRecording& take);

/// The valid polarity events of an AEDAT 3.1 file (iniVation), uncompressed, of a sensor of so many
/// pixels each way. Packets of other events are passed over.
std::vector<SensorEvent> read_aedat(const std::filesystem::path& path, std::uint32_t side);

/// The first `count` recordings of an SHD file that lies in memory, as bytes that read_shd() takes
/// apart: 64 bits of how many the file has; of each one 64 bits of its label and of its number of
/// events, then times (f32, seconds) and channels (32 bits). Called as parse_nir() is.
std::string parse_shd(const std::string& name, std::string bytes, std::uint64_t count);

}  // namespace tessera::data
