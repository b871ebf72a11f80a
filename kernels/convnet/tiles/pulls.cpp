#include "kernels/convnet/tiles/pulls.h"

#include <algorithm>

namespace tessera::convnet::tiles {

using plan::Pull;

namespace {

/// Pulls whose bytes lie side by side on both tiles become one.
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

/// How slots lie in X, and which window reads them.
struct SlotsInX {
  std::uint64_t begin, bytes;  ///< of the first; of one
  Window window;
  std::uint32_t plane_rows, plane_columns;
  std::uint64_t height, pitch;  ///< of a plane
  Shape input;
};

/// The rows of one chunk of a tile's inputs.
class Rows {
 public:
  Rows(const Geometry& g, const SlotsInX& to, const Inputs& from, Tile tile, plan::Pulls& pulls)
      : g_(g),
        to_(to),
        window_(to.window),
        cell_(g.cell(tile)),
        from_(from),
        tile_(tile),
        pulls_(pulls) {}

  /// Chunk `chunk` of an operand; beyond its chunks are zeros.
  void add_slot(const Geometries& geometries, const std::vector<Source>& operand,
                std::uint64_t chunk, std::uint64_t slot) {
    source_ = nullptr;
    if (chunk < operand.size()) {
      layer_ = operand[chunk].layer;
      chunk_ = operand[chunk].chunk;
      source_ = geometries[layer_].get();
    }
    for (std::uint32_t row = 0; row < to_.plane_rows; ++row)
      for (std::uint32_t column = 0; column < to_.plane_columns; ++column)
        add_plane(row, column, slot);
  }

 private:
  [[nodiscard]] std::uint32_t bytes() const { return g_.block().x_bytes(); }

  void add_plane(std::uint32_t plane_row, std::uint32_t plane_column, std::uint64_t slot) {
    const std::uint64_t plane = plane_row * to_.plane_columns + plane_column;
    const std::uint64_t rows =
        g_.rows(cell_).size() + (window_.height - 1 - plane_row) / window_.stride_height;
    columns_ = g_.columns(cell_).size() + (window_.width - 1 - plane_column) / window_.stride_width;
    first_column_ = static_cast<std::int64_t>(g_.columns(cell_).begin) * window_.stride_width +
                    plane_column - window_.left;
    for (std::uint64_t r = 0; r < rows; ++r) {
      const auto row = static_cast<std::int64_t>(
                           (g_.rows(cell_).begin + r) * window_.stride_height + plane_row) -
                       window_.top;
      add_row(row, to_.begin + slot * to_.bytes + (plane * to_.height + r) * to_.pitch * bytes());
    }
  }

  void add_padding(std::uint64_t into, std::uint64_t count) {
    if (count > 0)
      add({{from_.x, word(into)}, tile_, {from_.padding}, word(count * bytes())}, pulls_);
  }

  /// Columns of the window from `into` on.
  void add_row(std::int64_t row, std::uint64_t into) {
    const Shape& input = to_.input;
    if (source_ == nullptr || row < 0 || row >= input.height) return add_padding(into, columns_);
    const std::int64_t step = window_.stride_width;
    const std::int64_t width = input.width;
    const auto all = static_cast<std::int64_t>(columns_);
    // Columns that lie before the input, and those until its end.
    const std::int64_t before =
        std::clamp<std::int64_t>(first_column_ < 0 ? ceil_div(-first_column_, step) : 0, 0, all);
    const std::int64_t end = std::clamp<std::int64_t>(
        first_column_ < width ? ceil_div(width - first_column_, step) : 0, before, all);
    add_padding(into, static_cast<std::uint64_t>(before));
    add_inside(static_cast<std::uint64_t>(row), before, end, into);
    add_padding(into + static_cast<std::uint64_t>(end) * bytes(),
                static_cast<std::uint64_t>(all - end));
  }

  void add_inside(std::uint64_t row, std::int64_t begin, std::int64_t end, std::uint64_t into) {
    const Geometry& s = *source_;
    const std::uint64_t group = chunk_ / s.chunks_of_group();
    const auto row_part = word(s.all_rows().holder(row));
    for (std::int64_t c = begin; c < end;) {
      const auto x = static_cast<std::uint64_t>(first_column_ + c * window_.stride_width);
      const auto column_part = word(s.all_columns().holder(x));
      const Cell cell = s.finisher(row_part, column_part, group);
      const Interval columns = s.columns(cell);
      const std::int64_t count =
          window_.stride_width > 1 ? 1
                                   : std::min(end - c, static_cast<std::int64_t>(columns.end - x));
      const std::uint64_t in_tile = chunk_ - s.share(cell).begin * s.chunks_of_group();
      const std::uint64_t at =
          (in_tile * s.rows(cell).size() + row - s.rows(cell).begin) * columns.size() + x -
          columns.begin;
      add({{from_.x, word(into + static_cast<std::uint64_t>(c) * bytes())},
           s.tile(cell),
           {from_.results[layer_], word(at * bytes())},
           word(static_cast<std::uint64_t>(count) * bytes())},
          pulls_);
      c += count;
    }
  }

  const Geometry& g_;
  const SlotsInX& to_;
  const Window& window_;
  Cell cell_;
  const Inputs& from_;
  Tile tile_;
  plan::Pulls& pulls_;
  const Geometry* source_ = nullptr;
  std::uint32_t layer_ = 0, chunk_ = 0;
  std::uint64_t columns_ = 0;      ///< that the window reads of a row
  std::int64_t first_column_ = 0;  ///< of the input
};

}  // namespace

void pull_inputs(const Geometries& geometries, const Geometry& g, const Inputs& from, Tile tile,
                 plan::Pulls& pulls) {
  const Cell cell = g.cell(tile);
  const LayerShape& shape = g.shape();
  const Geometry::Slots slots = g.slots(cell);
  const SlotsInX inputs{0,
                        g.slot_bytes(cell),
                        shape.window,
                        g.plane_rows(),
                        g.plane_columns(),
                        g.height(cell),
                        g.pitch(cell),
                        shape.input};
  Rows rows(g, inputs, from, tile, pulls);
  for (std::uint64_t operand = 0; operand < slots.operands && !shape.given; ++operand)
    for (std::uint64_t i = 0; i < slots.chunks.size(); ++i)
      rows.add_slot(geometries, shape.operands[operand], slots.chunks.begin + i,
                    operand * slots.chunks.size() + i);
  if (!g.adds(cell)) return;
  const SlotsInX addend{g.addend_begin(cell),
                        g.addend_slot_bytes(cell),
                        Window{},
                        1,
                        1,
                        g.rows(cell).size(),
                        g.pitch(cell),
                        shape.output};
  Rows added(g, addend, from, tile, pulls);
  for (std::uint64_t i = 0; i < g.own_chunks(cell).size(); ++i)
    added.add_slot(geometries, shape.addend, g.own_chunks(cell).begin + i, i);
}

std::uint64_t expected_pulls(const Geometry& g) {
  const LayerShape& shape = g.shape();
  const Cell fullest{};
  const std::uint64_t columns = g.columns(fullest).size();
  const std::uint64_t of_row = columns < shape.output.width ? 2 : 1;  // a part may cross another
  const std::uint64_t rows = std::uint64_t{g.plane_rows()} * g.plane_columns() * g.height(fullest) *
                             (shape.window.stride_width > 1 ? g.pitch(fullest) : of_row);
  const std::uint64_t inputs = shape.given ? 0 : g.slots(fullest).size() * rows;
  return inputs +
         (g.adds(fullest) ? g.own_chunks(fullest).size() * g.rows(fullest).size() * of_row : 0);
}

}  // namespace tessera::convnet::tiles
