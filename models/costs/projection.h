#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/program/program.h"

/// Projections of a program onto single tiles, without the rest of the machine.
namespace tessera {

/// For up to 64 tiles: which of them take part in each exchange of a program.
class Participants {
 public:
  Participants(const program::Program& program, std::span<const std::uint32_t> tiles);
  /// True if the constructor's tile number `i` takes part in `exchange`.
  [[nodiscard]] bool contain(const program::Exchange& exchange, std::size_t i) const {
    return (of_.at(&exchange) >> i & 1U) != 0;
  }

 private:
  void find(const program::Sequence& sequence);

  std::vector<std::uint64_t> bit_of_buffer_;
  std::unordered_map<const program::Exchange*, std::uint64_t> of_;
};

/// One tile's part of a program (tile number `number` of `participants`) as a program of its own:
/// its vertices and host transfers; an exchange that it takes part in moves one word.
class Projection {
 public:
  Projection(const program::Program& program, TileId tile, const Participants& participants,
             std::size_t number);
  [[nodiscard]] const program::Program& sample() const { return sample_; }

 private:
  program::Sequence of(const program::Sequence& sequence);
  program::Exchange with_host(const program::Exchange& exchange);
  program::ComputeSet of(const program::ComputeSet& set);
  program::Exchange of(const program::Exchange& exchange) const;
  program::BufferId own_of(program::BufferId buffer);
  program::OuterId own_of(program::OuterId buffer);

  const program::Program& program_;
  TileId tile_;
  const Participants& participants_;
  std::size_t number_;
  program::BufferId words_;
  std::map<program::BufferId, program::BufferId> buffers_;
  std::map<program::OuterId, program::OuterId> outers_;
  program::Program sample_;
};

}  // namespace tessera
