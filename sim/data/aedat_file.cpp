#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/data/read_file.h"
#include "sim/data/recordings.h"

namespace tessera::data {
namespace {

/// Walks over the packets of a file.
class Aedat {
 public:
  Aedat(const std::filesystem::path& path, std::uint32_t side)
      : name_(path.string()), bytes_(read_file(path)), side_(side) {}

  std::vector<SensorEvent> events() {
    read_header();
    while (at_ < bytes_.size()) read_packet();
    return std::move(events_);
  }

 private:
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> problem, Args&&... args) const {
    throw UserError("{}: byte {}: {}", name_, at_,
                    fmt::format(problem, std::forward<Args>(args)...));
  }

  [[nodiscard]] std::uint32_t word(std::size_t at, std::size_t size = 4) const {
    std::uint32_t word = 0;
    for (std::size_t i = size; i-- > 0;)
      word = word << 8U | static_cast<unsigned char>(bytes_[at + i]);
    return word;
  }

  /// Reads the text lines from the version to the end of the header.
  void read_header() {
    constexpr std::string_view kVersion = "#!AER-DAT3.1";
    constexpr std::string_view kFormat = "#Format: ";
    for (std::string_view line; line != "#!END-HEADER";) {
      const std::size_t end = bytes_.find('\n', at_);
      const bool first = at_ == 0;
      line = std::string_view(bytes_).substr(at_, std::min(end, bytes_.size()) - at_);
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (first && line != kVersion)
        fail("is no AEDAT file of version 3.1: it does not begin with {}", kVersion);
      if (!line.starts_with('#') || end == std::string::npos)
        fail("the header ends without #!END-HEADER");
      if (line.starts_with(kFormat) && line.substr(kFormat.size()) != "RAW")
        fail("found the format '{}', allowed RAW", line.substr(kFormat.size()));
      at_ = end + 1;
    }
  }

  void read_packet() {
    constexpr std::size_t kHeaderBytes = 28;
    constexpr std::uint32_t kPolarity = 1;
    if (bytes_.size() - at_ < kHeaderBytes)
      fail("ends within a packet's header: found {} bytes, allowed {}", bytes_.size() - at_,
           kHeaderBytes);
    const std::uint32_t type = word(at_, 2);
    const std::uint64_t size = word(at_ + 4);
    const std::uint32_t time_at = word(at_ + 8);
    const std::uint64_t overflow = word(at_ + 12);
    const std::uint64_t capacity = word(at_ + 16);
    const std::uint64_t number = word(at_ + 20);
    if (capacity * size > bytes_.size() - at_ - kHeaderBytes)
      fail("ends within a packet of {} events of {} bytes", capacity, size);
    if (number > capacity)
      fail("found {} events in a packet, allowed its capacity of {}", number, capacity);
    if (type == kPolarity && (size != kEventBytes || time_at != 4))
      fail("found polarity events of {} bytes with their time at byte {}, allowed {} and 4", size,
           time_at, kEventBytes);
    const std::size_t end = at_ + kHeaderBytes + capacity * size;
    at_ += kHeaderBytes;
    for (std::uint64_t i = 0; type == kPolarity && i < number; ++i, at_ += kEventBytes)
      read_event(overflow);
    at_ = end;
  }

  /// Times have 31 bits; the packet's header counts their overflows.
  void read_event(std::uint64_t overflow) {
    const std::uint32_t data = word(at_);
    const std::uint32_t y = data >> 2U & 0x7fffU;
    const std::uint32_t x = data >> 17U;
    if ((data & 1U) == 0) return;  // not valid
    if (x >= side_ || y >= side_)
      fail("found an event at x {} y {}, allowed 0 to {}", x, y, side_ - 1);
    const std::uint32_t time = word(at_ + 4);
    if (time >> 31U != 0) fail("found the time {:#x}, allowed up to 0x7fffffff", time);
    events_.push_back({static_cast<double>(overflow << 31U | time), static_cast<std::uint16_t>(x),
                       static_cast<std::uint16_t>(y), (data & 2U) != 0});
  }

  static constexpr std::size_t kEventBytes = 8;
  std::string name_;
  std::string bytes_;
  std::uint32_t side_;
  std::size_t at_ = 0;
  std::vector<SensorEvent> events_;
};

}  // namespace

std::vector<SensorEvent> read_aedat(const std::filesystem::path& path, std::uint32_t side) {
  return Aedat(path, side).events();
}

}  // namespace tessera::data
