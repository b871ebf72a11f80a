#include "kernels/sparse/code/relayout.h"

namespace tessera::sparse {

namespace {

// Most columns of a panel: byte strides are 16 bits; a multiple of 4 keeps squares whole.
constexpr std::uint64_t kWidest = std::uint64_t{0xffff} / 16 * 4;

/// Squares [first, last) of row group `group` (rows from group * lanes on) of a panel.
SquareRun run_of(const Panel& panel, std::uint64_t depth, std::uint32_t bytes, Direction direction,
                 std::uint64_t group, std::uint64_t first, std::uint64_t last) {
  const std::uint64_t lanes = 8 / bytes;
  const std::uint64_t base = panel.offset * bytes;
  const auto half = [](std::uint64_t value) { return static_cast<std::uint16_t>(value); };
  const std::uint32_t rows_at = word(base + group * lanes * panel.width() * bytes + first * 8);
  const std::uint32_t blocks_at = word(base + first * lanes * depth * bytes + group * 8);
  const std::uint16_t row = half(panel.width() * bytes);
  const std::uint16_t position = half(depth * bytes);
  const std::uint16_t next = half(lanes * depth * bytes);
  if (direction == Direction::to_blocks) {
    return {rows_at, blocks_at, half(last - first), row, 8, position, next, 0};
  }
  return {blocks_at, rows_at, half(last - first), position, next, row, 8, 0};
}

/// The panel of `part` that contains `position`, in units of `depth` elements.
Panel panel_at(const Chunked& part, std::uint64_t position) {
  const std::uint64_t line = position / part.columns * part.columns;
  std::uint64_t begin = std::max(part.elements.begin / part.depth, line);
  begin += (position - begin) / kWidest * kWidest;
  const std::uint64_t end =
      std::min({part.elements.end / part.depth, line + part.columns, begin + kWidest});
  return {line / part.columns * part.depth, begin - line, end - line,
          begin * part.depth - part.elements.begin};
}

const char* codelet_of(Type type) { return type == Type::f16 ? "transpose_f16" : "transpose_f32"; }

std::vector<SquareRun> joined(const std::vector<std::vector<SquareRun>>& workers) {
  std::vector<SquareRun> list;
  for (const auto& runs : workers) list.insert(list.end(), runs.begin(), runs.end());
  return list;
}

std::vector<program::Argument> arguments_of(const std::vector<std::vector<SquareRun>>& workers,
                                            Place from, Place to, BufferId lists) {
  std::vector<program::Argument> arguments{from, to};
  std::size_t first = 0;
  for (const auto& runs : workers) {
    arguments.emplace_back(Place{lists, word(first * sizeof(SquareRun))});
    arguments.emplace_back(word(runs.size()));
    first += runs.size();
  }
  return arguments;
}

}  // namespace

Statement::Contents contents_of(Type type, const data::DenseOperand* operand,
                                std::function<Chunked(Tile)> part) {
  return [type, operand, part = std::move(part)](Tile tile, std::span<std::byte> into) {
    const Chunked its = part(tile);
    if (operand != nullptr) fill_chunks(type, *operand, its, its.elements.begin, into);
  };
}

std::vector<Panel> panels_of(const Chunked& part) {
  std::vector<Panel> panels;
  for (std::uint64_t at = part.elements.begin / part.depth; at < part.elements.end / part.depth;
       at += panels.back().width())
    panels.push_back(panel_at(part, at));
  return panels;
}

std::vector<std::vector<SquareRun>> transpositions(const Chunked& part, std::uint32_t bytes,
                                                   Direction direction, std::uint32_t workers) {
  const std::uint64_t lanes = 8 / bytes;
  const std::vector<Panel> panels = panels_of(part);
  std::uint64_t squares = 0;
  for (const Panel& panel : panels) squares += panel.width() / lanes * (part.depth / lanes);
  const std::uint64_t each = std::max(ceil_div<std::uint64_t>(squares, workers), std::uint64_t{1});
  std::vector<std::vector<SquareRun>> runs(workers);
  std::uint64_t at = 0;
  for (const Panel& panel : panels) {
    const std::uint64_t across = panel.width() / lanes;
    for (std::uint64_t group = 0; group < part.depth / lanes; ++group) {
      for (std::uint64_t first = 0; first < across;) {
        const std::uint64_t last = std::min(across, first + each - at % each);
        runs[at / each].push_back(run_of(panel, part.depth, bytes, direction, group, first, last));
        at += last - first;
        first = last;
      }
    }
  }
  return runs;
}

void pull_panels(const RowArray& rows, const Chunked& part, BufferId panels, Pulls& pulls) {
  const std::uint64_t size = rows.bytes;
  for_panel_rows(part, [&](std::uint64_t from, std::uint64_t count, std::uint64_t to) {
    pull(pulls, {panels, word(to * size)}, rows.storage, rows.array, from * size,
         (from + count) * size);
  });
}

void pull_rows(const RowArray& rows, std::uint64_t width, Tile tile, BufferId panels,
               const std::function<Holder(std::uint64_t row, std::uint64_t column)>& holder_of,
               Pulls& pulls) {
  const std::uint64_t begin = rows.storage.begin(tile) / rows.bytes;
  const std::uint64_t end = begin + rows.storage.bytes_on(tile) / rows.bytes;
  for (std::uint64_t at = begin, next = 0; at < end; at = next) {
    const auto [from, part] = holder_of(at / width, at % width);
    const std::uint64_t row = at / width - part.rows.begin;
    const std::uint64_t column = at % width - part.column;
    const Panel panel = panel_at(part, row / part.depth * part.columns + column);
    next = std::min(end, at + panel.end - column);
    const std::uint64_t held =
        panel.offset + (row - panel.row) * panel.width() + column - panel.begin;
    pulls.push_back({{rows.array, word((at - begin) * rows.bytes)},
                     from,
                     {panels, word(held * rows.bytes)},
                     word((next - at) * rows.bytes)});
  }
}

Transposition::Transposition(const Statement& statement, Type type,
                             std::function<Chunked(Tile)> part, Direction direction)
    : runs_([type, part = std::move(part), direction, workers = statement.contexts](Tile tile) {
        return transpositions(part(tile), data::element_bytes(type), direction, workers);
      }),
      code_(statement.codelet(codelet_of(type))),
      squares_(statement.list(
          "squares", [runs = runs_](Tile tile) { return joined(runs(tile)).size(); },
          [runs = runs_](Tile tile) { return joined(runs(tile)); })) {}

void add_turning(const Statement& statement, const std::string& name, Tile tiles, Type type,
                 const std::function<Chunked(Tile)>& part, Direction direction, BufferId from,
                 BufferId to) {
  const Transposition turning(statement, type, part, direction);
  statement.description.compute(name, tiles, [=](Tile tile, Calls& calls) {
    if (part(tile).elements.size() > 0) turning.add(calls, tile, {from}, {to});
  });
}

program::Vertex Transposition::call(Tile tile, Place from, Place to) const {
  return code_.all(arguments_of(runs_(tile), from, to, squares_));
}

}  // namespace tessera::sparse
