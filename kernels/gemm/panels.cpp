#include <algorithm>

#include "kernels/gemm/storage.h"

namespace tessera::gemm {

namespace {

/// Adds a piece, or lengthens the last one that it continues.
void append(std::vector<Storage::Piece>& pieces, const Storage::Piece& piece) {
  if (!pieces.empty()) {
    Storage::Piece& last = pieces.back();
    if (last.tile == piece.tile && last.offset + last.bytes == piece.offset &&
        last.at + last.bytes == piece.at) {
      last.bytes += piece.bytes;
      return;
    }
  }
  pieces.push_back(piece);
}

}  // namespace

EvenSplit Panels::split() const {
  return {geometry_.lines(side_).parts * geometry_.depth_blocks(), tiles_};
}

Panel Panels::panel(std::uint32_t part, Interval depth) const {
  const BlockShape& block = geometry_.block();
  const Interval lines = geometry_.lines(side_).part(part);
  if (side_ == Side::x)
    return {lines.begin, lines.size(), depth.begin, depth.size(), block.x_bytes(), 0, part, depth};
  return {depth.begin * block.depth,
          depth.size() * block.depth,
          lines.begin,
          lines.size(),
          block.result_bytes(),
          0,
          part,
          depth};
}

std::vector<Panel> Panels::on_tile(std::uint32_t tile) const {
  const std::uint64_t depth = geometry_.depth_blocks();
  const Interval units = split().part(tile);
  std::vector<Panel> panels;
  std::uint64_t offset = 0;
  for (std::uint64_t at = units.begin; at < units.end;) {
    const std::uint64_t part = at / depth;
    const std::uint64_t end = std::min((part + 1) * depth, units.end);
    panels.push_back(panel(word(part), {at - part * depth, end - part * depth}));
    panels.back().offset = word(offset);
    offset += panels.back().bytes();
    at = end;
  }
  return panels;
}

std::uint64_t Panels::bytes_on(std::uint32_t tile) const {
  std::uint64_t bytes = 0;
  for (const Panel& panel : on_tile(tile)) bytes += panel.bytes();
  return bytes;
}

std::uint32_t Panels::holders() const {
  return word(std::min<std::uint64_t>(split().total, tiles_));
}

std::vector<Storage::Piece> Panels::pieces(const Cell& cell, std::uint32_t cut) const {
  const std::uint32_t part = Geometry::part(side_, cell);
  const Interval depth = geometry_.depth_blocks(cell.depth, cut);
  const std::uint64_t first = part * geometry_.depth_blocks();
  std::vector<Storage::Piece> pieces;
  for (std::uint64_t at = depth.begin; at < depth.end;) {
    const auto tile = word(split().holder(first + at));
    for (const Panel& panel : on_tile(tile)) {
      if (panel.part != part) continue;
      add_pieces(panel, tile, depth, pieces);
      at = panel.depth.end;
    }
  }
  return pieces;
}

void Panels::add_pieces(const Panel& panel, std::uint32_t tile, Interval wanted,
                        std::vector<Storage::Piece>& pieces) const {
  const Interval both = kernels::common(panel.depth, wanted);
  const bool x = side_ == Side::x;
  const std::uint64_t bytes = geometry_.line_bytes(side_) * (x ? panel.rows : 1);
  const std::uint64_t runs = x ? 1 : panel.chunks;
  for (std::uint64_t run = 0; run < runs; ++run) {
    const std::uint64_t from = run * panel.depth.size() + both.begin - panel.depth.begin;
    const std::uint64_t to = run * wanted.size() + both.begin - wanted.begin;
    append(pieces,
           {tile, word(panel.offset + from * bytes), word(to * bytes), word(both.size() * bytes)});
  }
}

}  // namespace tessera::gemm
