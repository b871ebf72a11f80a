#pragma once

#include <cstdint>
#include <cstring>
#include <ostream>
#include <string_view>
#include <vector>

namespace tessera::trace {

/// A buffered file whose length is known at any time.
class Output {
 public:
  explicit Output(std::ostream& out) : out_(out), piece_(kPiece) {}

  /// Returns where the next bytes go, with room for `bytes` bytes.
  [[nodiscard]] char* room(std::size_t bytes) {
    if (piece_.size() - size_ < bytes) make_room(bytes);
    return piece_.data() + size_;
  }
  /// Call it after writing, with the end of the written bytes.
  void wrote(const char* end) { size_ = static_cast<std::size_t>(end - piece_.data()); }

  void append(std::string_view bytes) {
    char* const at = room(bytes.size());
    std::memcpy(at, bytes.data(), bytes.size());
    wrote(at + bytes.size());
  }
  void flush() {
    out_.write(piece_.data(), static_cast<std::streamsize>(size_));
    flushed_ += size_;
    size_ = 0;
  }
  [[nodiscard]] std::uint64_t bytes() const { return flushed_ + size_; }

 private:
  /// Stays in the host's cache until the kernel copies it: a third of the time of 256 KiB.
  static constexpr std::size_t kPiece = 1U << 15;

  void make_room(std::size_t bytes) {
    flush();
    if (piece_.size() < bytes) piece_.resize(bytes);
  }

  std::ostream& out_;
  std::vector<char> piece_;
  std::size_t size_ = 0;
  std::uint64_t flushed_ = 0;
};

}  // namespace tessera::trace
