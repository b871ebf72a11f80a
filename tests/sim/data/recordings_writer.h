#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// Small files of events, written by the formats' specifications.
namespace tessera::test {

struct WrittenEvent {
  std::uint64_t microseconds = 0;
  unsigned x = 0, y = 0;
  bool on = true;
};

/// A .bin file of N-MNIST.
std::string nmnist_file(const std::vector<WrittenEvent>& events);

/// An AEDAT 3.1 file is a header and packets. A packet has room for one event more than it holds,
/// and its header counts how often times have begun anew (every 2^31) by the first one; the first
/// `invalid` events are not valid.
std::string aedat_header();
std::string aedat_packet(const std::vector<WrittenEvent>& events, unsigned invalid = 0);
/// One event that is no polarity event.
std::string aedat_special_packet();

/// A recording of an SHD file.
struct WrittenSpikes {
  std::vector<float> seconds;
  std::vector<std::uint16_t> units;
};
/// Times are f16 and labels compressed, as in the published files. Leaves out a dataset named so.
void write_shd(const std::filesystem::path& path, const std::vector<WrittenSpikes>& recordings,
               const std::vector<unsigned>& labels, const std::string& without = "");

}  // namespace tessera::test
