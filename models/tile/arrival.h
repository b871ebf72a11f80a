#pragma once

#include <cstdint>

#include "sim/base/types.h"
#include "sim/program/image.h"

namespace tessera {

/// A tile's work from its last barrier on, until it needs others again.
struct TileSpan {
  Cycle exchange;  ///< blocked while bytes moved
  Cycle wait;      ///< blocked before the other ends of its exchange had started
  std::uint64_t instructions = 0;
  std::uint64_t flops = 0;
};

/// Where a tile's run-ahead ended.
struct Standing {
  enum class Kind : std::uint8_t {
    sync,           ///< waits at the barrier of `zone`
    exchange_wait,  ///< waits for the exchange it has started
    done,           ///< its supervisor ended
    limit           ///< ran past the cycle limit
  };
  Kind kind = Kind::done;
  std::uint32_t zone = 0;
  std::uint32_t sync_step = program::kNoStep;  ///< the step that begins with this sync
  Cycle at;
};

/// How it ended, and what the tile did.
struct Arrival : Standing {
  std::uint32_t step = program::kNoStep;  ///< the last step entered since the barrier
  bool started_exchange = false;          ///< `list` and `list_start` hold
  TileSpan span;
  std::uint32_t list = 0;  ///< address of the descriptor list
  Cycle list_start;
};

}  // namespace tessera
