#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace tessera::trace {

/// The bytes of one protobuf message, field by field, in a buffer that is used again.
/// Source: protobuf.dev/programming-guides/encoding (wire types 0 and 2).
class ProtobufMessage {
 public:
  void clear() { size_ = 0; }
  void number(std::uint32_t field, std::uint64_t value) {
    make_room(kMostVarint * 2);
    varint(std::uint64_t{field} << 3 | kVarint);
    varint(value);
  }
  void text(std::uint32_t field, std::string_view value) {
    make_room(kMostVarint * 2 + value.size());
    varint(std::uint64_t{field} << 3 | kLengthDelimited);
    varint(value.size());
    std::memcpy(bytes_.data() + size_, value.data(), value.size());
    size_ += value.size();
  }
  void message(std::uint32_t field, const ProtobufMessage& inner) { text(field, inner.view()); }

  [[nodiscard]] std::string_view view() const { return {bytes_.data(), size_}; }

 private:
  static constexpr std::uint32_t kVarint = 0;
  static constexpr std::uint32_t kLengthDelimited = 2;
  static constexpr std::size_t kMostVarint = 10;

  void make_room(std::size_t more) {
    if (size_ + more > bytes_.size()) bytes_.resize(2 * (size_ + more));
  }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_[size_++] = static_cast<char>(value | 0x80);
    bytes_[size_++] = static_cast<char>(value);
  }

  std::vector<char> bytes_ = std::vector<char>(256);
  std::size_t size_ = 0;
};

}  // namespace tessera::trace
