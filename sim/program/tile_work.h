#pragma once

#include <cstdint>
#include <vector>

#include "sim/program/flow.h"

/// A program seen from its tiles.
namespace tessera::program {

/// One action of a tile in a step: run a vertex, take part in the exchange (neither vertex nor
/// decision), or, after the last step of a While's test, branch on its word.
struct Work {
  std::uint32_t step;
  const Vertex* vertex = nullptr;
  const While* decision = nullptr;
  std::uint32_t exchange = 0;  ///< its number, if it is an exchange
  [[nodiscard]] bool exchanges() const { return vertex == nullptr && decision == nullptr; }
};

/// All actions of one tile, by step; the vertices of a step in their given order.
using TileWork = std::vector<Work>;

/// The work of each tile of `program`; `flow` points into it.
std::vector<TileWork> work_by_tile(const Program& program, const Flow& flow);

/// Tiles with equal signatures run the same control code: they differ in the contents of their
/// argument blocks and descriptor lists only.
std::vector<std::uint32_t> control_signature(std::uint32_t zone, const TileWork& work);

/// Layout of a tile's control data, as offsets from its beginning: a table with the address of each
/// descriptor list, then the argument blocks and the addresses of decisions.
struct ControlData {
  static constexpr std::uint32_t kAlign = 8;
  std::vector<std::uint32_t> offset;     ///< by Work: of its block or its table entry
  std::vector<std::uint32_t> exchanges;  ///< numbers of the exchanges in the table, in order
  std::uint32_t table_bytes = 0;
  std::uint32_t bytes = 0;
};
ControlData layout_control_data(const TileWork& work);

}  // namespace tessera::program
