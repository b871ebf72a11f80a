#include <algorithm>
#include <utility>

#include "kernels/gemm/program.h"

/// Matrices of a run as rows: as they are given, and what tiles take of a finished one.
namespace tessera::gemm {

using plan::Description;
using plan::Tile;

namespace {

/// The array of a matrix as a run begins or ends with it, as large on every tile as on the fullest.
RowArray row_array(Description& description, const RowMajor& stored, std::string_view name,
                   bool keep, std::function<void(Tile, std::span<std::byte>)> contents) {
  return {stored,
          description.array({name,
                             [stored, most = stored.bytes_on(0)](Tile tile) -> std::uint64_t {
                               return stored.bytes_on(tile) == 0 ? 0 : most;
                             },
                             keep, std::move(contents)})};
}

/// Bytes of the finished part of a cell's Y, from the tiles that add them up.
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
