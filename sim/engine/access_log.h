#pragma once

#include <cstdint>
#include <vector>

namespace tessera::engine {

/// Bytes [begin, end).
struct ByteRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool operator==(const ByteRange&) const = default;
};

/// A set of bytes optimised for small accesses, mostly adjacent to earlier ones.
class ByteSet {
 public:
  void add(std::uint32_t address, std::uint32_t bytes);
  void clear();
  /// Disjoint, ascending, with gaps between them.
  [[nodiscard]] const std::vector<ByteRange>& ranges();

 private:
  void merge();

  // Open ranges grow in place: enough for the streams of a loop.
  static constexpr std::size_t kOpen = 8;
  std::vector<ByteRange> ranges_;
  std::size_t merged_ = 0;  ///< size of ranges_ after the last merge
  bool grown_ = false;      ///< since then
};

/// Bytes that one context read and wrote, for race checks between workers.
class AccessLog {
 public:
  void read(std::uint32_t address, std::uint32_t bytes) { reads_.add(address, bytes); }
  void write(std::uint32_t address, std::uint32_t bytes) { writes_.add(address, bytes); }
  void clear() {
    reads_.clear();
    writes_.clear();
  }
  [[nodiscard]] const std::vector<ByteRange>& reads() { return reads_.ranges(); }
  [[nodiscard]] const std::vector<ByteRange>& writes() { return writes_.ranges(); }

 private:
  ByteSet reads_;
  ByteSet writes_;
};

}  // namespace tessera::engine
