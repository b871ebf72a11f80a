#include "kernels/convnet/tiles/geometry.h"

#include <algorithm>

namespace tessera::convnet::tiles {

void describe(config::Fields& fields, Split& split) {
  fields.field({"rows", "parts of the output's rows"}, split.rows, {1, kMostExtent});
  fields.field({"columns", "parts of the output's columns"}, split.columns, {1, kMostExtent});
  fields.field({"outputs", "parts of the output channels"}, split.outputs, {1, kMostExtent});
  fields.field({"inputs", "parts of the input channels, whose sums are added up"}, split.inputs,
               {1, kMostExtent});
}

Cell Geometry::cell(Tile tile) const {
  tile = in_ring(tile);
  Cell cell{};
  cell.output = tile % split_.outputs;
  tile /= split_.outputs;
  cell.column = tile % split_.columns;
  tile /= split_.columns;
  cell.row = tile % split_.rows;
  cell.input = tile / split_.rows;
  return cell;
}

Tile Geometry::tile(const Cell& cell) const {
  const Tile number =
      ((cell.input * split_.rows + cell.row) * split_.columns + cell.column) * split_.outputs +
      cell.output;
  return (ring_.first + number) % ring_.tiles;
}

EvenSplit Geometry::all_groups() const {
  return {ceil_div(shape_.output.channels, group_channels(block_)), split_.outputs};
}

Interval Geometry::share(const Cell& cell) const {
  const Interval all = groups(cell);
  const Interval part = EvenSplit{all.size(), split_.inputs}.part(cell.input);
  return {all.begin + part.begin, all.begin + part.end};
}

Cell Geometry::finisher(std::uint32_t row, std::uint32_t column, std::uint64_t group) const {
  Cell cell{row, column, word(all_groups().holder(group)), 0};
  const Interval all = groups(cell);
  cell.input = word(EvenSplit{all.size(), split_.inputs}.holder(group - all.begin));
  return cell;
}

Geometry::Slots Geometry::slots(const Cell& cell) const {
  const std::uint64_t operands = shape_.operands.size();
  if (shape_.kind == Kind::sums)
    return {operands, EvenSplit{shape_.chunks(), split_.inputs}.part(cell.input)};
  return {operands, own_chunks(cell)};
}

std::vector<std::uint32_t> Geometry::taps(const Cell& cell) const {
  const Window& w = shape_.window;
  const Planes planes = x(cell);
  std::vector<std::uint32_t> all;
  for (std::uint32_t row = 0; row < w.height; ++row)
    for (std::uint32_t column = 0; column < w.width; ++column)
      all.push_back(
          word((planes.line(row % w.stride_height, column % w.stride_width, row / w.stride_height) +
                column / w.stride_width) *
               block_.x_bytes()));
  return all;
}

std::uint64_t Geometry::positions(const Cell& cell) const {
  return (rows(cell).size() - 1) * pitch(cell) + columns(cell).size();
}
std::uint64_t Geometry::blocks(const Cell& cell) const {
  return groups(cell).size() * blocks_of_group();
}
Interval Geometry::share_bytes(const Cell& cell) const {
  const std::uint64_t first = groups(cell).begin;
  const std::uint64_t bytes = blocks_of_group() * block_bytes(cell);
  return {(share(cell).begin - first) * bytes, (share(cell).end - first) * bytes};
}

std::vector<Positions> Geometry::runs(const Cell& cell, std::uint32_t workers) const {
  const std::uint64_t lines = rows(cell).size(), width = columns(cell).size(), step = pitch(cell);
  std::vector<Positions> by_row(workers, {0, 0}), flat(workers, {0, 0});
  const std::uint64_t parts = std::max<std::uint64_t>(1, workers / lines);  // parts of a row
  for (std::uint32_t w = 0; w < workers; ++w) {
    flat[w] = EvenSplit{positions(cell), workers}.part(w);
    if (parts > 1) {
      if (w / parts >= lines) continue;
      const Interval part = EvenSplit{width, word(parts)}.part(w % parts);
      by_row[w] = {w / parts * step + part.begin, w / parts * step + part.end};
    } else if (const Interval mine = EvenSplit{lines, workers}.part(w); mine.size() > 0) {
      by_row[w] = {mine.begin * step, (mine.end - 1) * step + width};
    }
  }
  const auto longest = [](const std::vector<Positions>& runs) {
    return std::ranges::max(runs, {}, &Positions::size).size();
  };
  return longest(by_row) <= longest(flat) ? by_row : flat;
}

std::uint64_t Geometry::steps(const Cell& cell) const {
  if (shape_.kind == Kind::sums)
    return slots(cell).size() * shape_.taps() + (adds(cell) ? chunks_of_block() : 0);
  return chunks_of_block() * shape_.operands.size() * shape_.taps();
}

std::vector<std::uint32_t> Geometry::offsets(const Cell& cell) const {
  const Slots its = slots(cell);
  const std::vector<std::uint32_t> places = taps(cell);
  const std::uint64_t slot_bytes = x(cell).bytes();
  const Planes behind = addend(cell);
  std::vector<std::uint32_t> all;
  const auto add_slot = [&](std::uint64_t slot) {
    for (const std::uint32_t tap : places) all.push_back(word(slot * slot_bytes) + tap);
  };
  for (std::uint64_t b = 0; b < blocks(cell); ++b) {
    const std::uint64_t own = b * block_.columns / block_.depth;  // the first chunk of its outputs
    if (shape_.kind == Kind::sums)
      for (std::uint64_t slot = 0; slot < its.size(); ++slot) add_slot(slot);
    for (std::uint64_t i = own; i < own + chunks_of_block(); ++i) {
      if (shape_.kind == Kind::diagonal)
        for (std::uint64_t operand = 0; operand < its.operands; ++operand)
          add_slot(operand * its.chunks.size() + i);
      if (adds(cell)) all.push_back(word(behind.begin + i * behind.bytes()));
    }
  }
  return all;
}

}  // namespace tessera::convnet::tiles
