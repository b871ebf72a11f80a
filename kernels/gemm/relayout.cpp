#include "kernels/gemm/relayout.h"

#include <algorithm>

namespace tessera::gemm {

using program::BufferId;

Relayout::Relayout(const Geometry& geometry, const MachineConfig& machine,
                   program::Program& program, Vertices& vertices, Matrices matrices)
    : geometry_(geometry),
      machine_(machine),
      program_(program),
      vertices_(vertices),
      x_{{geometry, Storage::Role::x, machine.tiles}, std::move(matrices.a)},
      w_{{geometry, Storage::Role::w, machine.tiles}, std::move(matrices.b)},
      c_(std::move(matrices.c)) {}

BufferId Relayout::add_buffer(std::uint32_t tile, std::uint64_t bytes, std::string_view name) {
  return program_.add_buffer({TileId(tile), bytes, 8, false, program::Category::tensors, {}, name});
}

void Relayout::add_buffers(Side& side) {
  const bool x = &side == &x_;
  for (std::uint32_t t = 0; t < machine_.tiles; ++t) {
    // As large on every tile as on the fullest: all tiles are then packed as the plan expects.
    const std::uint64_t bytes = side.panels.bytes_on(t) == 0 ? 0 : side.panels.bytes_on(0);
    side.received.push_back(bytes == 0 ? BufferId{}
                                       : add_buffer(t, bytes, x ? "x in rows" : "w in rows"));
    side.regrouped.push_back(bytes == 0 ? BufferId{}
                                        : add_buffer(t, bytes, x ? "x panels" : "w panels"));
  }
}

program::Exchange Relayout::inputs() {
  // Before the product's long code: a near address takes one instruction.
  vertices_.regrouping_code(geometry_.block().y_bytes(), false);
  program::Exchange exchange{"relayout a b", {}};
  for (Side* side : {&x_, &w_}) {
    add_buffers(*side);
    add_exchange(*side, exchange);
  }
  return exchange;
}

program::ComputeSet Relayout::regrouping() {
  program::ComputeSet set{"relayout a b", {}};
  for (const Side* side : {&x_, &w_}) add_vertices(*side, set);
  return set;
}

void Relayout::add_exchange(const Side& side, program::Exchange& exchange) const {
  for (std::uint32_t t = 0; t < machine_.tiles; ++t) {
    for (const Panel& panel : side.panels.on_tile(t)) {
      const std::uint64_t row_bytes = panel.chunks * panel.chunk_bytes;
      const std::uint64_t begin = panel.chunk * panel.chunk_bytes;
      for (std::uint64_t row = 0; row < panel.rows; ++row) {
        const std::uint64_t at = panel.offset + row * row_bytes;
        for (const auto& piece :
             side.given.stored.pieces(panel.row + row, begin, begin + row_bytes)) {
          exchange.copies.push_back({{side.given.buffers[piece.tile], piece.offset},
                                     piece.bytes,
                                     {{side.received[t], word(at + piece.at)}}});
        }
      }
    }
  }
}

void Relayout::add_vertices(const Side& side, program::ComputeSet& set) {
  for (std::uint32_t t = 0; t < machine_.tiles; ++t) {
    for (const Panel& panel : side.panels.on_tile(t)) {
      set.vertices.push_back(vertices_.regrouping(
          TileId(t), {panel.rows, panel.chunks, panel.chunk_bytes}, true,
          {side.received[t], panel.offset}, {side.regrouped[t], panel.offset}));
    }
  }
}

std::vector<Storage::Piece> Relayout::pieces(Storage::Role role, const Cell& cell,
                                             std::uint32_t cut) const {
  return (role == Storage::Role::x ? x_ : w_).panels.pieces(cell, cut);
}

const std::vector<BufferId>& Relayout::panels(Storage::Role role) const {
  return (role == Storage::Role::x ? x_ : w_).regrouped;
}

program::ComputeSet Relayout::y_to_rows(const std::vector<BufferId>& y,
                                        const std::vector<BufferId>& rows) {
  program::ComputeSet set{"relayout c", {}};
  for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
    const Cell cell = geometry_.cell(t);
    const Vertices::Chunks chunks{geometry_.rows(cell.row).size(),
                                  geometry_.column_blocks(cell.column).size(),
                                  geometry_.block().y_bytes()};
    set.vertices.push_back(vertices_.regrouping(TileId(t), chunks, false, {y[t]}, {rows[t]}));
  }
  return set;
}

program::Exchange Relayout::result(const std::vector<BufferId>& results) const {
  const BlockShape& block = geometry_.block();
  program::Exchange exchange{"relayout c", {}};
  for (std::uint32_t t = 0; t < geometry_.tiles(); ++t) {
    const Cell cell = geometry_.cell(t);
    const Interval columns = geometry_.column_blocks(cell.column);
    const std::uint64_t width = columns.size() * block.result_bytes();
    const std::uint64_t column = columns.begin * block.result_bytes();
    const std::uint64_t first =
        geometry_.y_share(cell).begin / block.partial_bytes * block.input_bytes;
    const std::uint64_t last = first + geometry_.result_bytes(cell);
    for (std::uint64_t at = first; at < last;) {
      const std::uint64_t row = at / width;
      const std::uint64_t end = std::min((row + 1) * width, last);
      const std::uint64_t from = column + at - row * width;
      for (const auto& piece :
           c_.stored.pieces(geometry_.rows(cell.row).begin + row, from, from + end - at)) {
        exchange.copies.push_back({{results[t], word(at - first + piece.at)},
                                   piece.bytes,
                                   {{c_.buffers[piece.tile], piece.offset}}});
      }
      at = end;
    }
  }
  return exchange;
}

}  // namespace tessera::gemm
