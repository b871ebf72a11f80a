#pragma once

#include <cstdint>

#include "sim/machine/machine_config.h"

namespace tessera {

/// What `tile.issue` says: how contexts come to issue.
enum class IssueKind : std::uint8_t { barrel, revolver, interleaved, single };

/// The field's reader has refused all other texts.
inline IssueKind issue_kind(const TileConfig& tile) {
  if (tile.issue == "revolver") return IssueKind::revolver;
  if (tile.issue == "interleaved") return IssueKind::interleaved;
  return tile.issue == "single" ? IssueKind::single : IssueKind::barrel;
}

/// Cycles from a slot of a worker context to its next, where it has slots of its own.
inline std::uint32_t cycles_per_slot(const TileConfig& tile) {
  return issue_kind(tile) == IssueKind::barrel ? tile.contexts : 1;
}

}  // namespace tessera
