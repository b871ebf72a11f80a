#include <algorithm>
#include <cstring>
#include <string>

#include "sim/base/errors.h"
#include "sim/data/child_reader.h"
#include "sim/data/read_file.h"
#include "sim/data/recordings.h"

namespace tessera::data {
namespace {

/// Memory of the reading process beyond the file: an event takes 4 bytes of it, and 8 of the
/// returned text, whose growth may need three times the room. SHD's larger file, 260 MB, is read in
/// some seconds.
constexpr std::uint64_t kBytesAByte = 6;
constexpr std::uint64_t kBytesBeside = 64U << 20U;
constexpr unsigned kSecondsBeside = 4;
constexpr std::uint64_t kBytesASecond = 10U << 20U;

/// Reads numbers off the front of a text.
class NumberReader {
 public:
  explicit NumberReader(const std::string& text) : text_(text) {}
  template <class Number>
  std::vector<Number> numbers(std::uint64_t count) {
    check(count <= (text_.size() - at_) / sizeof(Number), "shd: {} numbers of {} bytes from {} on",
          count, text_.size(), at_);
    std::vector<Number> numbers(count);
    if (count > 0) std::memcpy(numbers.data(), text_.data() + at_, count * sizeof(Number));
    at_ += count * sizeof(Number);
    return numbers;
  }
  std::uint64_t number() { return numbers<std::uint64_t>(1).front(); }

 private:
  const std::string& text_;
  std::size_t at_ = 0;
};

}  // namespace

std::uint64_t read_shd(const std::filesystem::path& path, std::uint64_t count,
                       const TakeRecording& take) {
  constexpr double kMicroseconds = 1e6;  // per second
  const std::string name = path.string();
  std::string bytes = read_unzipped(path);
  const std::uint64_t size = bytes.size();
  const std::string text =
      read_in_child(name, std::move(bytes),
                    {kBytesBeside + kBytesAByte * size,
                     kSecondsBeside + static_cast<unsigned>(size / kBytesASecond)},
                    [&](std::string file) { return parse_shd(name, std::move(file), count); });
  NumberReader front(text);
  const std::uint64_t all = front.number();
  for (std::uint64_t i = 0; i < std::min(count, all); ++i) {
    Recording recording{static_cast<std::uint32_t>(front.number()), {}};
    const std::uint64_t events = front.number();
    const std::vector<float> seconds = front.numbers<float>(events);
    const std::vector<std::int32_t> channels = front.numbers<std::int32_t>(events);
    for (std::size_t k = 0; k < events; ++k)
      recording.events.push_back(
          {double(seconds[k]) * kMicroseconds, static_cast<std::uint16_t>(channels[k]), 0, true});
    take(recording);
  }
  return all;
}

}  // namespace tessera::data
