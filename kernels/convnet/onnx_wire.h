#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/errors.h"

namespace tessera::convnet::onnx {

/// Reads the fields of one protobuf message, in the order in which they lie (protobuf.dev,
/// Encoding). Debian's libonnx and libprotobuf are shared libraries only, which the program would
/// load at every start; the few messages of onnx_file.h need no more than this.
class Wire {
 public:
  /// `file` stands in messages.
  Wire(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  /// Goes on to the next field; false at the end. What was not read of the one before is skipped.
  bool next() {
    if (!read_) skip();
    if (bytes_.empty()) return false;
    const std::uint64_t key = varint();
    field_ = key >> 3;
    kind_ = key & 7;
    read_ = false;
    return true;
  }
  [[nodiscard]] std::uint64_t field() const { return field_; }
  /// True if the field is one of a number beside others, not a list, a text or a message.
  [[nodiscard]] bool lone() const { return kind_ != kBytes; }

  // What the field holds, once.
  std::int64_t integer() {
    begin(kVarint);
    return static_cast<std::int64_t>(varint());
  }
  float number() {
    begin(kFixed32);
    const std::string_view four = take(4);
    std::uint32_t bits = 0;
    for (std::size_t i = 4; i-- > 0;) bits = bits << 8 | static_cast<unsigned char>(four[i]);
    return std::bit_cast<float>(bits);
  }
  std::string_view bytes() {
    begin(kBytes);
    return take(varint());
  }
  std::string text() { return std::string(bytes()); }
  Wire message() { return {bytes(), file_}; }
  /// Calls take of each number of a list: many in one field (packed), or one.
  template <class Take>
  void integers(const Take& take) {
    if (lone()) return take(integer());
    for (Wire list(bytes(), file_); !list.bytes_.empty();)
      take(static_cast<std::int64_t>(list.varint()));
  }
  template <class Take>
  void numbers(const Take& take) {
    if (lone()) return take(number());
    Wire list(bytes(), file_);
    list.kind_ = kFixed32;
    while (!list.bytes_.empty()) take(list.number());
  }

  [[noreturn]] void fail(std::string_view problem) const {
    throw UserError(fmt::format("{}: no ONNX model: {}", file_, problem));
  }

 private:
  static constexpr std::uint64_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;

  void begin(std::uint64_t kind) {
    if (kind_ != kind) fail(fmt::format("field {} has the wire type {}", field_, kind_));
    read_ = true;
  }
  void skip() {
    if (kind_ == kVarint) {
      static_cast<void>(varint());
    } else if (kind_ == kBytes) {
      static_cast<void>(take(varint()));
    } else if (kind_ == kFixed32 || kind_ == kFixed64) {
      static_cast<void>(take(kind_ == kFixed32 ? 4 : 8));
    } else {
      fail(fmt::format("field {} has the wire type {}", field_, kind_));
    }
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    fail("a number of more than 64 bits");
  }
  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size()) fail("it ends inside a field");
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

  std::string_view bytes_;
  const std::string& file_;
  std::uint64_t field_ = 0, kind_ = 0;
  bool read_ = true;
};

}  // namespace tessera::convnet::onnx
