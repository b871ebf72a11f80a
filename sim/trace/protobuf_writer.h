#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace tessera::trace {

/// Writes protobuf fields one after the other, messages within messages in place.
/// Source: protobuf.dev/programming-guides/encoding (wire types 0 and 2).
class ProtobufWriter {
 public:
  /// Most bytes of one number, or of a text or message beside its content.
  static constexpr std::size_t kMostBytes = 20;

  /// `at` must have room for all that is written.
  explicit ProtobufWriter(char* at) : at_(at) {}

  void number(std::uint32_t field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3 | kVarint);
    varint(value);
  }
  void text(std::uint32_t field, std::string_view value) {
    varint(std::uint64_t{field} << 3 | kLengthDelimited);
    varint(value.size());
    std::memcpy(at_, value.data(), value.size());
    at_ += value.size();
  }
  /// Begins a message, which end_message() of the returned pointer ends.
  [[nodiscard]] char* begin_message(std::uint32_t field) {
    varint(std::uint64_t{field} << 3 | kLengthDelimited);
    return at_++;  // one byte for its length: enough for nearly all
  }
  void end_message(char* length) {
    const char* const content = length + 1;
    const auto size = static_cast<std::size_t>(at_ - content);
    if (size >= kLongVarint) {
      std::memmove(length + varint_bytes(size), content, size);
    }
    at_ = length;
    varint(size);
    at_ += size;
  }

  /// Where what was written ends.
  [[nodiscard]] char* end() const { return at_; }

 private:
  static constexpr std::uint32_t kVarint = 0;
  static constexpr std::uint32_t kLengthDelimited = 2;
  static constexpr std::uint64_t kLongVarint = 0x80;

  static std::size_t varint_bytes(std::uint64_t value) {
    std::size_t bytes = 1;
    for (; value >= kLongVarint; value >>= 7) ++bytes;
    return bytes;
  }
  void varint(std::uint64_t value) {
    for (; value >= kLongVarint; value >>= 7) *at_++ = static_cast<char>(value | kLongVarint);
    *at_++ = static_cast<char>(value);
  }

  char* at_;
};

}  // namespace tessera::trace
