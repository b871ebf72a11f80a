#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tessera {

/// A memory that replaces our channels: it gets each request in its arrival cycle and answers later
/// through OuterTraffic::answer().
class OuterTarget {
 public:
  struct Request {
    std::uint32_t number;
    std::uint64_t address;  ///< tiles' address spaces follow one another without gaps
    bool write;
    std::span<std::byte> data;  ///< to be filled by a read; valid until the answer
  };
  virtual ~OuterTarget() = default;
  /// Within one cycle, called by tile, then in order of issue.
  virtual void send(const Request& request) = 0;
};

}  // namespace tessera
