#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/data/read_file.h"
#include "sim/data/recordings.h"

namespace tessera::data {
namespace {

namespace fs = std::filesystem;

struct NmnistFile {
  std::string name;
  std::uint32_t digit = 0;
  fs::path path;
};

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

std::vector<NmnistFile> nmnist_files(const fs::path& folder) {
  const auto fail = [](const fs::path& path, const std::string& problem) {
    throw UserError("{}: {}", path.string(), problem);
  };
  constexpr const char* kAllowed = "the folders 0 to 9 of N-MNIST's Train or Test";
  if (!fs::is_directory(folder))
    fail(folder, fmt::format("found no folder, allowed one that holds {}", kAllowed));
  std::vector<NmnistFile> files;
  for (const auto& digit : fs::directory_iterator(folder)) {
    if (is_hidden(digit.path())) continue;
    const std::string name = digit.path().filename().string();
    if (name.size() != 1 || name < "0" || name > "9" || !digit.is_directory())
      fail(folder, fmt::format("found '{}' in it, allowed {}", name, kAllowed));
    for (const auto& file : fs::directory_iterator(digit.path())) {
      if (is_hidden(file.path())) continue;
      if (file.path().extension() != ".bin")
        fail(file.path(), "found another file, allowed .bin, events of N-MNIST");
      files.push_back({file.path().filename().string(), static_cast<std::uint32_t>(name[0] - '0'),
                       file.path()});
    }
  }
  if (files.empty()) fail(folder, fmt::format("found no .bin file, allowed {}", kAllowed));
  std::ranges::sort(files, [](const NmnistFile& a, const NmnistFile& b) {
    return std::pair(a.name, a.digit) < std::pair(b.name, b.digit);
  });
  return files;
}

std::vector<SensorEvent> nmnist_events(const fs::path& path) {
  constexpr std::size_t kBytes = 5;  // of an event
  constexpr unsigned kTimePassed = 240;
  constexpr unsigned kOn = 0x80;
  const std::string bytes = read_file(path);
  if (bytes.size() % kBytes != 0)
    throw UserError("{}: ends within an event: found {} bytes, allowed a multiple of {}",
                    path.string(), bytes.size(), kBytes);
  std::vector<SensorEvent> events;
  std::uint32_t passed = 0;
  for (std::size_t at = 0; at < bytes.size(); at += kBytes) {
    const auto byte = [&](std::size_t i) {
      return std::uint32_t{static_cast<unsigned char>(bytes[at + i])};
    };
    const std::uint32_t x = byte(0);
    const std::uint32_t y = byte(1);
    if (y == kTimePassed) {
      passed += 1U << 13U;
      continue;
    }
    if (x >= kNmnistSide || y >= kNmnistSide)
      throw UserError("{}: byte {}: found an event at x {} y {}, allowed 0 to {}", path.string(),
                      at, x, y, kNmnistSide - 1);
    const std::uint32_t time = (byte(2) & ~kOn) << 16U | byte(3) << 8U | byte(4);
    events.push_back({double(time) + passed, static_cast<std::uint16_t>(x),
                      static_cast<std::uint16_t>(y), (byte(2) & kOn) != 0});
  }
  return events;
}

}  // namespace

std::uint64_t read_nmnist(const fs::path& folder, std::uint64_t count, const TakeRecording& take) {
  const std::vector<NmnistFile> files = nmnist_files(folder);
  for (std::size_t i = 0; i < std::min<std::uint64_t>(count, files.size()); ++i)
    take({files[i].digit, nmnist_events(files[i].path)});
  return files.size();
}

}  // namespace tessera::data
