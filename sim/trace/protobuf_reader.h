#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/errors.h"

namespace tessera::trace {

/// One field of a protobuf message: a number, or the bytes of a text or message.
struct ProtobufField {
  std::uint32_t field = 0;
  std::uint64_t number = 0;
  std::string_view bytes;
};

/// Reads the fields of one message, one after the other. Errors are UserErrors
/// `file: byte N: ...`.
/// Source: protobuf.dev/programming-guides/encoding.
class ProtobufReader {
 public:
  /// `bytes` lie within those of the whole file, that begin at `begin`.
  ProtobufReader(std::string_view bytes, const char* begin, const std::string& file)
      : rest_(bytes), begin_(begin), file_(file) {}

  /// Nothing at the end. Fields of 4 and 8 bytes have neither number nor bytes.
  std::optional<ProtobufField> next() {
    if (rest_.empty()) return std::nullopt;
    const std::uint64_t tag = varint();
    ProtobufField read{static_cast<std::uint32_t>(tag >> kTypeBits), 0, {}};
    switch (tag & ((1U << kTypeBits) - 1)) {
      case kVarint:
        read.number = varint();
        break;
      case kDelimited:
        read.bytes = take(varint());
        break;
      case kEight:
        take(sizeof(std::uint64_t));
        break;
      case kFour:
        take(sizeof(std::uint32_t));
        break;
      default:
        fail(fmt::format("found a field of wire type {}", tag & ((1U << kTypeBits) - 1)));
    }
    return read;
  }

  [[nodiscard]] ProtobufReader inside(const ProtobufField& field) const {
    return {field.bytes, begin_, file_};
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw UserError(fmt::format("{}: byte {}: {}, expected a Perfetto trace of tessera run", file_,
                                rest_.data() - begin_, problem));
  }

 private:
  static constexpr unsigned kTypeBits = 3;
  static constexpr std::uint64_t kVarint = 0, kEight = 1, kDelimited = 2, kFour = 5;

  std::string_view take(std::uint64_t bytes) {
    if (bytes > rest_.size())
      fail(fmt::format("found the file's end {} bytes early", bytes - rest_.size()));
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  std::uint64_t varint() {
    constexpr unsigned kBits = 7, kMostBits = 64;
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < kMostBits; shift += kBits) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    fail("found a number of more than 10 bytes");
  }

  std::string_view rest_;
  const char* begin_;
  const std::string& file_;
};

}  // namespace tessera::trace
