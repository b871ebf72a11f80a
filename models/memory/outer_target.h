#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tessera {

/// A memory that takes the place of our channels: it is sent each request in the cycle in which
/// that arrives, and answers later, by OuterTraffic::answer().
class OuterTarget {
 public:
  struct Request {
    std::uint32_t number;
    std::uint64_t address;  ///< spaces of tiles follow each other without gaps
    bool write;
    std::span<std::byte> data;  ///< a read's is to be filled; stays in place until the answer
  };
  virtual ~OuterTarget() = default;
  /// Called in one cycle by tile and order of issue.
  virtual void send(const Request& request) = 0;
};

}  // namespace tessera
