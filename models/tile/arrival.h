#pragma once

#include <cstdint>

#include "sim/base/types.h"
#include "sim/program/image.h"

namespace tessera {

/// A tile's work from its last barrier on, until it needs others again.
struct TileSpan {
  Cycle exchange;    ///< blocked while bytes moved
  Cycle wait;        ///< blocked before bytes moved: for other ends, or for ports
  Cycle overlapped;  ///< of the transfers it waited for, in which it was not blocked
  std::uint64_t instructions = 0;
  std::uint64_t flops = 0;
  Bytes read = {}, written = {};  ///< of memory outside, by transfers of its workers
};

/// Where the time from a barrier on went, along what was last at each turn: a tile's own work, or
/// that of the tile that started last an exchange for which it waited. The rest is computing.
struct Path {
  Cycle exchange;       ///< bytes moved
  Cycle ports;          ///< of transfers that were busy with others
  Cycle wait;           ///< for tiles that had not begun from the same barrier
  Cycle external = {};  ///< of `exchange`: with memory outside
  Cycle host = {};      ///< bytes moved from or to the host, for it or for a tile waited for
  [[nodiscard]] Cycle blocked() const { return exchange + ports + wait + host; }
};

/// Where a tile's run-ahead ended: what it waits for.
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
  Address list;                                ///< of its descriptors; 0: of all in flight
  Cycle at;
};

/// How it ended, and what the tile did.
struct Arrival : Standing {
  std::uint32_t step = program::kNoStep;  ///< the last step entered since the barrier
  bool started = false;                   ///< Tile::started() holds something
  TileSpan span;
};

}  // namespace tessera
