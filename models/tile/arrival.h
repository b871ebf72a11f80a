#pragma once

#include <cstdint>

#include "sim/base/types.h"
#include "sim/program/image.h"

namespace tessera {

/// A tile's work from its last barrier to its next interaction.
struct TileSpan {
  Cycle exchange;    ///< blocked while bytes were moving
  Cycle wait;        ///< blocked before bytes moved: for participants or ports
  Cycle overlapped;  ///< part of awaited transfers hidden behind its work
  std::uint64_t instructions = 0;
  std::uint64_t flops = 0;
  Bytes read = {}, written = {};  ///< external memory, by its workers' transfers
};

/// Time since a barrier along the critical path: where a tile waits for an exchange, the path
/// continues on the tile that started it last. The rest is computing.
struct Path {
  Cycle exchange;       ///< bytes moved
  Cycle ports;          ///< waiting for ports busy with other transfers
  Cycle wait;           ///< for tiles that left another barrier
  Cycle external = {};  ///< part of `exchange`: with external memory
  Cycle host = {};      ///< bytes moving from or to the host, for this tile or an awaited one
  [[nodiscard]] Cycle blocked() const { return exchange + ports + wait + host; }
};

/// Where a tile's run-ahead ended: its wait reason.
struct WaitReason {
  enum class Kind : std::uint8_t {
    sync,      ///< waits at the barrier of `zone`
    transfer,  ///< waits for the transfer of `list`
    horizon,   ///< reached the horizon given to run()
    done,      ///< its supervisor ended
    limit      ///< ran past the cycle limit
  };
  Kind kind = Kind::done;
  std::uint32_t zone = 0;
  std::uint32_t sync_step = program::kNoStep;  ///< the step that begins with this sync
  Address list;                                ///< of its descriptor list; 0: all in flight
  Cycle at;
};

/// How the run-ahead ended, and the tile's work.
struct Arrival : WaitReason {
  std::uint32_t step = program::kNoStep;  ///< the last step entered since the barrier
  bool started = false;                   ///< Tile::started() holds something
  TileSpan span;
};

}  // namespace tessera
