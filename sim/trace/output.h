#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

namespace tessera::trace {

/// A file being written in large pieces, whose length is known at any time.
class Output {
 public:
  explicit Output(std::ostream& out) : out_(out) { buffer_.reserve(kPiece + kPiece / 4); }

  void append(std::string_view bytes) {
    buffer_.append(bytes);
    if (buffer_.size() >= kPiece) flush();
  }
  void flush() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    flushed_ += buffer_.size();
    buffer_.clear();
  }
  [[nodiscard]] std::uint64_t bytes() const { return flushed_ + buffer_.size(); }

 private:
  static constexpr std::size_t kPiece = 1U << 18;
  std::ostream& out_;
  std::string buffer_;
  std::uint64_t flushed_ = 0;
};

}  // namespace tessera::trace
