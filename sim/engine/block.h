#pragma once

#include <deque>
#include <vector>

#include "sim/engine/op.h"

namespace tessera::engine {

/// A position in code, and the cost since the begin of its block or of the last loop in it.
struct Site {
  std::uint32_t pc = 0;
  Cost before;
};

/// The instructions from one entry, across untaken branches, up to a jump.
struct Block {
  std::vector<Op> ops;
  std::vector<Site> sites;  ///< one for each Op
  std::deque<Edge> edges;
  std::vector<Demand> demands;     ///< one for each instruction; timed codes only
  std::vector<std::uint32_t> pcs;  ///< pc of each demand's instruction
};

inline std::span<const Demand> Edge::demands() const {
  return std::span(block->demands).subspan(first, last - first);
}
inline std::span<const std::uint32_t> Edge::pcs() const {
  return std::span(block->pcs).subspan(first, last - first);
}

}  // namespace tessera::engine
