#include <algorithm>
#include <utility>

#include "kernels/gemm/program.h"

/// Layout natural: matrices of a run in rows, their panels, and pulls from a finished matrix.
namespace tessera::gemm {

using plan::Description;
using plan::Tile;

namespace {

/// Adds a piece; extends the last piece if it is contiguous.
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

/// The array of a matrix before or after the run, on every tile as large as on the fullest.
RowArray row_array(Description& description, const RowMajor& stored, std::string_view name,
                   bool keep, std::function<void(Tile, std::span<std::byte>)> contents) {
  return {stored,
          description.array({name,
                             [stored, most = stored.bytes_on(0)](Tile tile) -> std::uint64_t {
                               return stored.bytes_on(tile) == 0 ? 0 : most;
                             },
                             keep, std::move(contents)})};
}

/// Pulls bytes of the finished part of a cell's Y from the tiles that reduce them.
void pull_shares(const Geometry& geometry, BufferId from, Cell cell, Interval bytes, Place into,
                 Pulls& pulls) {
  const BlockShape& block = geometry.block();
  for (cell.depth = 0; cell.depth < geometry.plan().split_k; ++cell.depth) {
    const Interval share = geometry.y_share(cell);
    const std::uint64_t begin = share.begin / block.partial_bytes * block.input_bytes;
    const std::uint64_t end = share.end / block.partial_bytes * block.input_bytes;
    const Interval both = kernels::common(bytes, {begin, end});
    if (both.size() == 0) continue;
    pulls.push_back({kernels::behind(into, both.begin - bytes.begin),
                     geometry.tile(cell),
                     {from, word(both.begin - begin)},
                     word(both.size())});
  }
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

RowArrays given_by_rows(const Geometry& geometry, Tile tiles, Description& description,
                        const Operand* a, const Operand* b) {
  const auto filled = [type = geometry.block().input](const RowMajor& stored, const Operand* from) {
    return [stored, from, type](Tile tile, std::span<std::byte> into) {
      const auto element = [&](auto row, auto column) { return from->element(row, column); };
      if (from != nullptr) stored.fill(tile, type, into, element);
    };
  };
  const BlockShape& block = geometry.block();
  const std::uint64_t pitch = geometry.column_blocks() * block.result_bytes();
  const RowMajor c(geometry.roles().rows, pitch, tiles);
  const RowMajor x(geometry.roles().rows, geometry.depth_blocks() * block.x_bytes(), tiles);
  const RowMajor w(geometry.depth_blocks() * block.depth, pitch, tiles);
  const RowArray result = row_array(description, c, "c", true, {});
  const RowArray first = row_array(description, x, "a", false, filled(x, a));
  return {first, row_array(description, w, "b", false, filled(w, b)), result};
}

void pull_row(const Geometry& g, BufferId from, std::uint64_t row, Interval bytes, Place into,
              Pulls& pulls) {
  const BlockShape& block = g.block();
  const Cell first = g.cell_of(row, 0);
  const std::uint64_t in_part = row - g.rows(first.row).begin;
  for (std::uint32_t column = 0; column < g.column_parts(); ++column) {
    const Interval blocks = g.column_blocks(column);
    const Interval part{blocks.begin * block.result_bytes(), blocks.end * block.result_bytes()};
    const Interval both = kernels::common(bytes, part);
    if (both.size() == 0) continue;
    const std::uint64_t at = in_part * part.size() + both.begin - part.begin;
    pull_shares(g, from, {first.row, column, 0}, {at, at + both.size()},
                kernels::behind(into, both.begin - bytes.begin), pulls);
  }
}

}  // namespace tessera::gemm
