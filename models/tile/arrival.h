#pragma once

#include <cstdint>

#include "sim/base/types.h"
#include "sim/program/image.h"

namespace tessera {

/// A tile's work from its last barrier on, until it needs others again.
struct TileSpan {
  Cycle exchange;    ///< blocked while bytes moved
  Cycle wait;        ///< blocked before bytes moved: for other ends, or for ports
  Cycle overlapped;  ///< part of awaited transfers in which it was not blocked
  std::uint64_t instructions = 0;
  std::uint64_t flops = 0;
  Bytes read = {}, written = {};  ///< memory outside, by transfers of its workers
};

/// Where the time from a barrier on went, along the critical path: at each turn a tile's own work,
/// or that of the tile that was the last to start an awaited exchange. The rest is computing.
struct Path {
  Cycle exchange;       ///< bytes moved
  Cycle ports;          ///< waiting for ports busy with other transfers
  Cycle wait;           ///< for tiles that had not begun from the same barrier
  Cycle external = {};  ///< part of `exchange`: with memory outside
  Cycle host = {};      ///< bytes moved from or to the host, for it or for a tile waited for
  [[nodiscard]] Cycle blocked() const { return exchange + ports + wait + host; }
};

/// Where a tile's run-ahead ended: its wait reason.
struct Standing {
  enum class Kind : std::uint8_t {
    sync,      ///< waits at the barrier of `zone`
    transfer,  ///< waits for the side of a transfer that `list` names
    horizon,   ///< came to where it was told to stop
    done,      ///< its supervisor ended
    limit      ///< ran past the cycle limit
  };
  Kind kind = Kind::done;
  std::uint32_t zone = 0;
  std::uint32_t sync_step = program::kNoStep;  ///< the step that begins with this sync
  Address list;                                ///< its descriptor list's; 0: all in flight
  Cycle at;
};

/// How the run-ahead ended, and the tile's work.
struct Arrival : Standing {
  std::uint32_t step = program::kNoStep;  ///< the last step entered since the barrier
  bool started = false;                   ///< Tile::started() holds something
  TileSpan span;
};

}  // namespace tessera
