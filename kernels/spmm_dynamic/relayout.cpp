#include "kernels/spmm_dynamic/relayout.h"

#include <algorithm>
#include <cstring>

#include "kernels/spmm_dynamic/spmm_dynamic.h"
#include "kernels/spmm_static/relayout.h"
#include "sim/elf/codelet.h"

namespace tessera::spmm_dynamic {

using gemm::EvenSplit;
using gemm::Interval;
using program::BufferId;
using program::ComputeSet;
using program::Exchange;
using program::Place;
using spmm_static::Direction;
using spmm_static::Panel;
using spmm_static::SquareRun;

namespace {

std::uint32_t word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

/// What one tile makes of rows, or rows of: elements of a piece of rows [first_row, end_row).
struct Part {
  Interval elements;
  std::uint64_t first_row;
  std::uint64_t end_row;
  std::uint32_t depth;  ///< rows of a chunk
};

class Writer {
 public:
  Writer(program::Program& program, const Problem& problem, const PoolShape& pool,
         const Cells& cells, bool measured)
      : program_(program),
        problem_(problem),
        shape_(problem.shape),
        pool_(pool),
        grid_(pool.grid),
        bytes_(problem, pool),
        cells_(cells),
        measured_(measured) {}

  void rows_in() {
    Exchange exchange{"relayout x", {}};
    for (const Cell& one : cells_) {
      const bool turned = shape_.x_chunk() > 1;
      take_rows(x_part(one), one, problem_.block_columns, &Cell::given_x,
                turned ? one.x_panels : one.x_slice, exchange);
      if (shape_.values)
        take_rows(yg_part(one), one, problem_.block_rows, &Cell::given_y, one.y_slice, exchange);
    }
    add_step(std::move(exchange));
    if (shape_.x_chunk() == 1) return;
    ComputeSet set{"relayout x", {}};
    for (const Cell& one : cells_)
      turn(x_part(one), one, one.x_panels, one.x_slice, Direction::to_blocks, set);
    add_step(std::move(set));
  }

  void rows_out() {
    const bool turned = shape_.result_chunk() > 1;
    if (turned) {
      ComputeSet set{"relayout y", {}};
      for (const Cell& one : cells_)
        turn(y_part(one), one, one.results, one.result_panels, Direction::to_rows, set);
      add_step(std::move(set));
    }
    Exchange exchange{"relayout y", {}};
    for (const Cell& one : cells_)
      give_rows(one, turned ? one.result_panels : one.results, exchange);
    add_step(std::move(exchange));
  }

 private:
  [[nodiscard]] Interval elements_of(Interval words) const {
    return {words.begin * shape_.lanes(), words.end * shape_.lanes()};
  }
  [[nodiscard]] Part part(Interval elements, std::uint32_t block_rows, std::uint32_t parts,
                          std::uint32_t number, std::uint32_t depth) const {
    const Interval blocks = EvenSplit{block_rows, parts}.part(number);
    return {elements, blocks.begin * shape_.block, blocks.end * shape_.block, depth};
  }
  [[nodiscard]] Part x_part(const Cell& one) const {
    return part(elements_of(bytes_.x_part(grid_.x, one.x)), problem_.block_columns, grid_.y, one.y,
                shape_.x_chunk());
  }
  [[nodiscard]] Part yg_part(const Cell& one) const {
    return part(elements_of(bytes_.y_part(grid_.y, one.y)), problem_.block_rows, grid_.x, one.x, 1);
  }
  [[nodiscard]] Part y_part(const Cell& one) const {
    const Interval chunks = bytes_.share(one.y, one.z);
    const std::uint32_t per_chunk = kChunkBytes / shape_.sum_bytes();
    return part({chunks.begin * per_chunk, chunks.end * per_chunk}, problem_.block_rows, grid_.x,
                one.x, shape_.result_chunk());
  }

  /// Calls visit(element of the matrix by rows, elements, element of what the tile holds) for each
  /// row of each panel.
  template <class Visit>
  void for_rows(const Part& part, const Cell& one, const Visit& visit) const {
    const std::uint64_t width = std::uint64_t{grid_.columns} * grid_.z;
    for (const Panel& panel : spmm_static::panels_of(part.elements.begin, part.elements.end,
                                                     part.depth, grid_.columns)) {
      for (std::uint64_t i = 0; i < part.depth; ++i) {
        const std::uint64_t row = part.first_row + panel.row + i;
        if (row >= part.end_row) break;
        visit(row * width + std::uint64_t{one.z} * grid_.columns + panel.begin, panel.width(),
              panel.offset + i * panel.width());
      }
    }
  }

  /// Calls visit(tile, first element there, elements, elements before) for what is cut where parts
  /// of rows end.
  template <class Visit>
  void for_tiles(std::uint32_t block_rows, std::uint64_t first, std::uint64_t count,
                 const Visit& visit) const {
    const std::uint64_t stored =
        given_rows_bytes(problem_, grid_, block_rows) / shape_.element_bytes();
    for (std::uint64_t done = 0; done < count;) {
      const std::uint64_t at = first + done;
      const std::uint64_t piece = std::min(count - done, stored - at % stored);
      visit(cells_.of_tile(word(at / stored)), at % stored, piece, done);
      done += piece;
    }
  }

  void take_rows(const Part& part, const Cell& one, std::uint32_t block_rows, BufferId Cell::*given,
                 BufferId into, Exchange& exchange) const {
    const std::uint32_t size = shape_.element_bytes();
    for_rows(part, one, [&](std::uint64_t from, std::uint64_t count, std::uint64_t to) {
      for_tiles(block_rows, from, count,
                [&](const Cell& holder, std::uint64_t at, std::uint64_t piece, std::uint64_t done) {
                  exchange.copies.push_back({{holder.*given, word(at * size)},
                                             word(piece * size),
                                             {{into, word((to + done) * size)}}});
                });
    });
  }

  void give_rows(const Cell& one, BufferId from, Exchange& exchange) const {
    const std::uint32_t size = shape_.element_bytes();
    for_rows(y_part(one), one, [&](std::uint64_t to, std::uint64_t count, std::uint64_t at) {
      for_tiles(
          problem_.block_rows, to, count,
          [&](const Cell& holder, std::uint64_t place, std::uint64_t piece, std::uint64_t done) {
            exchange.copies.push_back(
                {{from, word((at + done) * size)},
                 word(piece * size),
                 {{result_buffer(grid_, holder.x, holder.y, holder.z), word(place * size)}}});
          });
    });
  }

  void turn(const Part& part, const Cell& one, BufferId from, BufferId to, Direction direction,
            ComputeSet& set) const {
    if (part.elements.size() == 0) return;
    const auto panels =
        spmm_static::panels_of(part.elements.begin, part.elements.end, part.depth, grid_.columns);
    std::vector<SquareRun> list;
    std::vector<program::Argument> arguments{Place{from}, Place{to}};
    const auto workers = spmm_static::transpositions(panels, part.depth, shape_.element_bytes(),
                                                     direction, pool_.contexts);
    for (const auto& runs : workers) list.insert(list.end(), runs.begin(), runs.end());
    const BufferId lists = add_list(one.tile, std::move(list));
    std::size_t first = 0;
    for (const auto& runs : workers) {
      arguments.emplace_back(Place{lists, word(first * sizeof(SquareRun))});
      arguments.emplace_back(word(runs.size()));
      first += runs.size();
    }
    const std::uint32_t codelet = program_.add_codelet(elf::embedded_codelet(
        "spmm_static", shape_.f16() ? "spmm_transpose_f16" : "spmm_transpose_f32"));
    set.vertices.push_back(
        {one.tile, codelet, program::Executor::all_workers, 0, std::move(arguments)});
  }

  BufferId add_list(TileId tile, std::vector<SquareRun> list) const {
    const auto bytes = word(list.size() * sizeof(SquareRun));
    return program_.add_buffer({tile, bytes, 8, false, program::Category::tensors,
                                [list = std::move(list)](std::span<std::byte> into) {
                                  std::memcpy(into.data(), list.data(), into.size());
                                },
                                "squares"});
  }

  template <class Action>
  void add_step(Action action) {
    program_.main().steps.push_back({std::move(action), measured_});
  }

  program::Program& program_;
  const Problem& problem_;
  const Shape& shape_;
  const PoolShape& pool_;
  const Grid& grid_;
  const Buffers bytes_;
  const Cells& cells_;
  bool measured_;
};

}  // namespace

void add_rows_in(program::Program& program, const Problem& problem, const PoolShape& pool,
                 const Cells& cells, bool measured) {
  Writer(program, problem, pool, cells, measured).rows_in();
}

void add_rows_out(program::Program& program, const Problem& problem, const PoolShape& pool,
                  const Cells& cells, bool measured) {
  Writer(program, problem, pool, cells, measured).rows_out();
}

std::uint64_t predicted_transposing_slots(const PoolShape& pool, std::uint64_t words,
                                          std::uint32_t depth) {
  const Shape& shape = pool.shape;
  const auto panels = spmm_static::panels_of(0, words * shape.lanes(), depth, pool.grid.columns);
  const auto workers = spmm_static::transpositions(panels, depth, shape.element_bytes(),
                                                   Direction::to_blocks, pool.contexts);
  std::uint64_t most = 0;
  for (const auto& runs : workers)
    most = std::max(most, spmm_static::transposing_slots(runs, shape.element_bytes()));
  return most;
}

}  // namespace tessera::spmm_dynamic
