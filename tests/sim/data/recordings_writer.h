#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// Small event files, written from the formats' specifications.
namespace tessera::test {

struct WrittenEvent {
  std::uint64_t microseconds = 0;
  unsigned x = 0, y = 0;
  bool on = true;
};

/// A .bin file of N-MNIST.
std::string nmnist_file(const std::vector<WrittenEvent>& events);

/// An AEDAT 3.1 file is a header and packets. A packet has capacity for one event more than it
/// holds. Its header holds the number of timestamp overflows (every 2^31) before the first event.
/// The first `invalid` events are marked invalid.
std::string aedat_header();
std::string aedat_packet(const std::vector<WrittenEvent>& events, unsigned invalid = 0);
/// A packet with one event that is not a polarity event.
std::string aedat_special_packet();

/// One recording of an SHD file.
struct WrittenSpikes {
  std::vector<float> seconds;
  std::vector<std::uint16_t> units;
};
/// Times are f16 and labels compressed, as in the published files. Leaves out dataset `without`.
void write_shd(const std::filesystem::path& path, const std::vector<WrittenSpikes>& recordings,
               const std::vector<unsigned>& labels, const std::string& without = "");

}  // namespace tessera::test
