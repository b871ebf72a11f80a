#include "kernels/spmm_static/relayout_steps.h"

#include <algorithm>

namespace tessera::spmm_static {

namespace {

/// X or Y, as it is dealt to tiles.
struct Dealt {
  std::uint64_t elements;
  std::uint64_t stored;
  std::uint64_t depth;

  Dealt(const Partition& partition, Direction direction) {
    const bool x = direction == Direction::to_blocks;
    elements = x ? partition.x_elements() : partition.y_elements();
    stored = x ? partition.x_stored() : partition.y_stored();
    depth = x ? partition.shape.x_depth() : partition.shape.block;
  }
  [[nodiscard]] std::vector<Panel> panels(std::uint64_t tile, std::uint64_t columns) const {
    return panels_of(tile * stored, std::min((tile + 1) * stored, elements), depth, columns);
  }
};

/// Calls visit(tile, element of the matrix by rows, elements, element of what the tile holds) for
/// each row of each panel.
template <class Visit>
void for_panel_rows(const Dealt& dealt, std::uint64_t columns, const Visit& visit) {
  for (std::uint64_t tile = 0; tile * dealt.stored < dealt.elements; ++tile) {
    for (const Panel& panel : dealt.panels(tile, columns)) {
      for (std::uint64_t i = 0; i < dealt.depth; ++i) {
        visit(tile, (panel.row + i) * columns + panel.begin, panel.width(),
              panel.offset + i * panel.width());
      }
    }
  }
}

}  // namespace

program::Exchange rows_to_panels(const Assembly& assembly, const std::vector<BufferId>& given,
                                 const std::vector<BufferId>& panels) {
  program::Exchange exchange{"relayout x", {}};
  const Dealt x(assembly.partition(), Direction::to_blocks);
  for_panel_rows(x, assembly.partition().columns,
                 [&](std::uint64_t tile, std::uint64_t row, std::uint64_t count, std::uint64_t at) {
                   assembly.add_copies(
                       exchange, given, x.stored, row, count, [&](std::uint64_t offset) {
                         const std::uint64_t to = at * assembly.shape().bytes() + offset;
                         return std::vector<Place>{{panels[tile], word(to)}};
                       });
                 });
  return exchange;
}

program::ComputeSet transposed(Assembly& assembly, const std::vector<BufferId>& from,
                               const std::vector<BufferId>& to, Direction direction) {
  const Shape& shape = assembly.shape();
  const Dealt dealt(assembly.partition(), direction);
  const std::uint32_t codelet =
      assembly.codelet(shape.type == Type::f16 ? "spmm_transpose_f16" : "spmm_transpose_f32");
  program::ComputeSet set{direction == Direction::to_blocks ? "relayout x" : "relayout y", {}};
  for (std::uint64_t tile = 0; tile < from.size(); ++tile) {
    const auto workers = transpositions(dealt.panels(tile, assembly.partition().columns),
                                        dealt.depth, shape.bytes(), direction, assembly.contexts());
    std::vector<SquareRun> list;
    for (const auto& runs : workers) list.insert(list.end(), runs.begin(), runs.end());
    const BufferId lists = assembly.list(tile, std::move(list), "squares");
    std::vector<program::Argument> arguments{Place{from[tile]}, Place{to[tile]}};
    std::size_t first = 0;
    for (const auto& runs : workers) {
      arguments.emplace_back(Place{lists, word(first * sizeof(SquareRun))});
      arguments.emplace_back(word(runs.size()));
      first += runs.size();
    }
    set.vertices.push_back(
        {TileId(word(tile)), codelet, program::Executor::all_workers, 0, std::move(arguments)});
  }
  return set;
}

program::Exchange panels_to_rows(const Assembly& assembly, const std::vector<BufferId>& panels,
                                 BufferId (*wanted)(std::uint64_t tile)) {
  program::Exchange exchange{"relayout y", {}};
  const Dealt y(assembly.partition(), Direction::to_rows);
  const std::uint32_t size = assembly.shape().bytes();
  for_panel_rows(
      y, assembly.partition().columns,
      [&](std::uint64_t tile, std::uint64_t row, std::uint64_t count, std::uint64_t at) {
        for (std::uint64_t done = 0; done < count;) {
          const std::uint64_t to = row + done;
          const std::uint64_t piece = std::min(count - done, y.stored - to % y.stored);
          exchange.copies.push_back({{panels[tile], word((at + done) * size)},
                                     word(piece * size),
                                     {{wanted(to / y.stored), word(to % y.stored * size)}}});
          done += piece;
        }
      });
  return exchange;
}

}  // namespace tessera::spmm_static
