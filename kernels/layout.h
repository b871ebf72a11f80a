#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "sim/base/errors.h"
#include "sim/base/types.h"
#include "sim/config/fields.h"

/// How operands are divided over tiles and laid out.
namespace tessera {

[[noreturn, gnu::cold]] inline void throw_no_word(std::uint64_t value) {
  throw UserError(
      "the program does not fit: found {} bytes or elements on one tile, allowed below 2^32",
      value);
}

/// A count, an offset or an address as a tile's 32-bit word. Throws UserError from 2^32 on: such a
/// program fits no tile.
constexpr std::uint32_t word(std::uint64_t value) {
  if (value > UINT32_MAX) throw_no_word(value);
  return static_cast<std::uint32_t>(value);
}

}  // namespace tessera

namespace tessera::kernels {

/// Layout of operands and results: blocks in the order of the tile code, or row-major.
enum class Layout : std::uint8_t { blocked, natural };
inline constexpr config::Names<Layout, 2> kLayouts{
    {{"blocked", Layout::blocked}, {"natural", Layout::natural}}};

struct Interval {
  std::uint64_t begin;
  std::uint64_t end;
  [[nodiscard]] std::uint64_t size() const { return end - begin; }
};
/// Intersection of two intervals; has size 0 if they are disjoint.
constexpr Interval common(const Interval& a, const Interval& b) {
  const std::uint64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

/// Splits `total` items into `parts` intervals whose sizes differ by at most one, larger ones
/// first.
struct EvenSplit {
  std::uint64_t total;
  std::uint32_t parts;

  [[nodiscard]] std::uint64_t begin(std::uint64_t part) const {
    const std::uint64_t extra = total % parts;
    return total / parts * part + (part < extra ? part : extra);
  }
  [[nodiscard]] Interval part(std::uint64_t part) const { return {begin(part), begin(part + 1)}; }
  [[nodiscard]] std::uint64_t holder(std::uint64_t thing) const {
    const std::uint64_t large = (total / parts + 1) * (total % parts);
    if (thing < large) return thing / (total / parts + 1);
    return total % parts + (thing - large) / (total / parts);
  }
  [[nodiscard]] std::uint64_t largest() const {
    return ceil_div(total, static_cast<std::uint64_t>(parts));
  }
};

/// Part counts up to `most` that make the largest part of `all` items smaller than any lower count
/// does.
inline std::vector<std::uint32_t> part_counts(std::uint64_t all, std::uint64_t most) {
  std::vector<std::uint32_t> counts;
  for (std::uint32_t parts = 1; parts <= std::min(all, most); ++parts)
    if (counts.empty() || EvenSplit{all, parts}.largest() < EvenSplit{all, parts - 1}.largest())
      counts.push_back(parts);
  return counts;
}

/// Bytes stored in equal shares of whole `grain`s on tiles 0, 1, ...; the last tiles may hold less,
/// or nothing.
class EvenStorage {
 public:
  EvenStorage() = default;
  EvenStorage(std::uint64_t bytes, std::uint64_t grain, std::uint32_t tiles)
      : bytes_(bytes),
        each_(std::max(round_up(ceil_div(bytes, std::uint64_t{tiles}), grain), grain)) {}

  /// The part of a requested byte range that lies on one tile.
  struct Piece {
    std::uint32_t tile;
    std::uint32_t offset;  ///< in the tile's share
    std::uint32_t at;      ///< from the beginning of the requested range
    std::uint32_t bytes;
  };
  class Pieces {
   public:
    class Iterator {
     public:
      Iterator(std::uint64_t begin, std::uint64_t end, std::uint64_t each)
          : begin_(begin), at_(begin), end_(end), each_(each), tile_(begin / each) {}
      [[nodiscard]] Piece operator*() const {
        return {word(tile_), word(at_ - tile_ * each_), word(at_ - begin_), word(next() - at_)};
      }
      Iterator& operator++() {
        at_ = next();
        ++tile_;
        return *this;
      }
      bool operator==(std::default_sentinel_t /*end*/) const { return at_ >= end_; }

     private:
      [[nodiscard]] std::uint64_t next() const { return std::min((tile_ + 1) * each_, end_); }

      std::uint64_t begin_, at_, end_, each_, tile_;
    };

    explicit Pieces(const Iterator& first) : first_(first) {}
    [[nodiscard]] Iterator begin() const { return first_; }
    [[nodiscard]] static std::default_sentinel_t end() { return {}; }

   private:
    Iterator first_;
  };
  /// The pieces of bytes `begin` to `end`, in order.
  [[nodiscard]] Pieces pieces(std::uint64_t begin, std::uint64_t end) const {
    return Pieces({begin, end, each_});
  }

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Bytes on the fullest tile.
  [[nodiscard]] std::uint64_t each() const { return each_; }
  /// Tiles that hold something.
  [[nodiscard]] std::uint32_t tiles() const { return word(ceil_div(bytes_, each_)); }
  [[nodiscard]] std::uint64_t begin(std::uint64_t tile) const {
    return std::min(tile * each_, bytes_);
  }
  [[nodiscard]] std::uint32_t bytes_on(std::uint64_t tile) const {
    return word(begin(tile + 1) - begin(tile));
  }

 private:
  std::uint64_t bytes_ = 0;
  std::uint64_t each_ = 1;
};

}  // namespace tessera::kernels

namespace tessera {

using kernels::EvenSplit;
using kernels::EvenStorage;
using kernels::Interval;

}  // namespace tessera
