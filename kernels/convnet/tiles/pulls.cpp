#include <algorithm>

#include "kernels/convnet/tiles/geometry.h"

namespace tessera::convnet::tiles {

using plan::Pull;

namespace {

/// Adds a pull; merges it with the last one if both are contiguous on both tiles.
void add(const Pull& pull, plan::Pulls& pulls) {
  if (!pulls.empty()) {
    Pull& last = pulls.back();
    if (last.from == pull.from && last.source.buffer == pull.source.buffer &&
        last.source.offset + last.bytes == pull.source.offset &&
        last.into.offset + last.bytes == pull.into.offset) {
      last.bytes += pull.bytes;
      return;
    }
  }
  pulls.push_back(pull);
}

/// Pulls the rows of chunks of a tile's inputs.
class Rows {
 public:
  Rows(const Geometries& geometries, const Geometry& g, const Inputs& from, const Cell& cell,
       plan::Pulls& pulls)
      : geometries_(geometries),
        g_(g),
        cell_(cell),
        from_(from),
        tile_(g.tile(cell)),
        pulls_(pulls) {}

  /// Pulls chunk `chunk` of an operand into a slot of `to`; zeros beyond the operand's chunks.
  void add_slot(const Planes& to, const std::vector<Source>& operand, std::uint64_t chunk,
                std::uint64_t slot) {
    source_ = chunk < operand.size() ? &operand[chunk] : nullptr;
    const Window& w = to.window;
    const Interval rows = g_.rows(cell_), columns = g_.columns(cell_);
    for (std::uint32_t row = 0; row < to.plane_rows(); ++row)
      for (std::uint32_t column = 0; column < to.plane_columns(); ++column)
        for (std::uint64_t r = 0; r < rows.size() + (w.height - 1 - row) / w.stride_height; ++r)
          add_row(to, signed_of((rows.begin + r) * w.stride_height + row) - w.top,
                  signed_of(columns.begin * w.stride_width + column) - w.left,
                  columns.size() + (w.width - 1 - column) / w.stride_width,
                  to.begin + slot * to.bytes() + to.line(row, column, r) * bytes());
  }

 private:
  static std::int64_t signed_of(std::uint64_t value) { return static_cast<std::int64_t>(value); }
  [[nodiscard]] std::uint32_t bytes() const { return g_.block().x_bytes(); }

  /// Pulls `count` columns of an input's row from column `first` on.
  void add_row(const Planes& to, std::int64_t row, std::int64_t first, std::uint64_t count,
               std::uint64_t into) {
    const std::int64_t step = to.window.stride_width, width = to.input.width;
    const bool exists = source_ != nullptr && row >= 0 && row < to.input.height;
    for (std::uint64_t c = 0, run = 0; c < count; c += run) {
      const std::int64_t x = first + signed_of(c) * step;
      run = count - c;
      if (exists && x >= 0 && x < width) {
        run = step > 1 ? 1 : run;
        add_inside(static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(x), run,
                   into + c * bytes());
        continue;
      }
      if (exists && x < 0) run = std::min(run, static_cast<std::uint64_t>(ceil_div(-x, step)));
      add({{from_.x, word(into + c * bytes())}, tile_, {from_.padding}, word(run * bytes())},
          pulls_);
    }
  }

  /// Pulls up to `count` columns from x on, all from the tile that computed them; sets `count` to
  /// their number.
  void add_inside(std::uint64_t row, std::uint64_t x, std::uint64_t& count, std::uint64_t into) {
    const Geometry& s = *geometries_[source_->layer];
    const Cell cell = s.finisher(word(s.all_rows().holder(row)), word(s.all_columns().holder(x)),
                                 source_->chunk / s.chunks_of_group());
    const Interval columns = s.columns(cell);
    count = std::min(count, columns.end - x);
    const std::uint64_t in_tile = source_->chunk - s.share(cell).begin * s.chunks_of_group();
    const std::uint64_t at =
        (in_tile * s.rows(cell).size() + row - s.rows(cell).begin) * columns.size() + x -
        columns.begin;
    add({{from_.x, word(into)},
         s.tile(cell),
         {from_.results[source_->layer], word(at * bytes())},
         word(count * bytes())},
        pulls_);
  }

  const Geometries& geometries_;
  const Geometry& g_;
  Cell cell_;
  const Inputs& from_;
  Tile tile_;
  plan::Pulls& pulls_;
  const Source* source_ = nullptr;
};

}  // namespace

void pull_inputs(const Geometries& geometries, const Geometry& g, const Inputs& from,
                 const Cell& cell, plan::Pulls& pulls) {
  const LayerShape& shape = g.shape();
  const Geometry::Slots slots = g.slots(cell);
  Rows rows(geometries, g, from, cell, pulls);
  for (std::uint64_t operand = 0; operand < slots.operands && !shape.given; ++operand)
    for (std::uint64_t i = 0; i < slots.chunks.size(); ++i)
      rows.add_slot(g.x(cell), shape.operands[operand], slots.chunks.begin + i,
                    operand * slots.chunks.size() + i);
  if (!g.adds(cell)) return;
  for (std::uint64_t i = 0; i < g.own_chunks(cell).size(); ++i)
    rows.add_slot(g.addend(cell), shape.addend, g.own_chunks(cell).begin + i, i);
}

std::uint64_t expected_pulls(const Geometry& g) {
  const LayerShape& shape = g.shape();
  const Cell fullest{};
  const std::uint64_t columns = g.columns(fullest).size();
  const std::uint64_t of_row = columns < shape.output.width ? 2 : 1;  // a part may span two tiles
  const Planes x = g.x(fullest);
  const std::uint64_t rows = std::uint64_t{x.plane_rows()} * x.plane_columns() * x.height() *
                             (shape.window.stride_width > 1 ? x.pitch : of_row);
  const std::uint64_t inputs = shape.given ? 0 : g.slots(fullest).size() * rows;
  return inputs +
         (g.adds(fullest) ? g.own_chunks(fullest).size() * g.rows(fullest).size() * of_row : 0);
}

}  // namespace tessera::convnet::tiles
