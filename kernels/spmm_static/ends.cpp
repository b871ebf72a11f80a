#include "kernels/spmm_static/ends.h"

namespace tessera::spmm_static {

using sparse::Direction;

namespace {

sparse::Chunked part_of(const DenseEnd& end, std::uint32_t depth, std::uint64_t tile) {
  return chunks_of(end.storage, end.shape, end.columns, depth, tile);
}

/// Rows to panels, and these to blocks.
std::vector<BufferId> rows_in(Assembly& assembly, const DenseEnd& end,
                              std::vector<BufferId> by_rows) {
  const std::vector<BufferId> panels = assembly.stored(end.storage, "in rows");
  std::vector<BufferId> blocks = assembly.stored(end.storage, "in blocks");
  const std::string name = fmt::format("relayout {}", end.name);
  program::Exchange exchange{name, {}};
  program::ComputeSet set{name, {}};
  const sparse::Rows rows{end.shape, end.storage, std::move(by_rows)};
  for (std::uint32_t t = 0; t < end.storage.tiles(); ++t) {
    const sparse::Chunked part = part_of(end, end.shape.x_depth(), t);
    sparse::rows_to_panels(exchange, rows, part, panels[t]);
    sparse::add_transposition(assembly, set, end.shape, TileId(t), part, {panels[t]}, {blocks[t]},
                              Direction::to_blocks);
  }
  assembly.add_step(std::move(exchange), end.measured);
  assembly.add_step(std::move(set), end.measured);
  return blocks;
}

}  // namespace

std::vector<BufferId> given(Assembly& assembly, const DenseEnd& end,
                            const data::DenseOperand& operand) {
  std::vector<BufferId> given = assembly.stored(
      end.storage, end.name, [end, &operand](std::uint64_t first, std::span<std::byte> into) {
        first /= end.shape.bytes();
        if (end.shape.relayouts())
          return sparse::fill_rows(end.shape.type, operand, end.columns, first, into, end.column);
        sparse::Chunked part = part_of(end, end.shape.x_depth(), 0);
        part.column = end.column;
        sparse::fill_chunks(end.shape.type, operand, part, first, into);
      });
  return end.shape.relayouts() ? rows_in(assembly, end, std::move(given)) : given;
}

std::vector<BufferId> wanted(Assembly& assembly, const DenseEnd& end) {
  std::vector<BufferId> buffers;
  for (std::uint32_t t = 0; t < assembly.program().tiles(); ++t)
    buffers.push_back(assembly.buffer(t, end.storage.bytes_on(t), end.name, {}, true));
  return buffers;
}

program::Tensor tensor_of(const sparse::ChunkedMatrix& matrix, const DenseEnd& end,
                          const BuffersOfRows& buffers) {
  std::vector<program::TensorPart> parts;
  for (const std::vector<BufferId>& round : buffers)
    for (std::uint32_t t = 0; t < round.size(); ++t)
      parts.push_back({{round[t]}, end.storage.bytes_on(t)});
  const std::uint32_t depth = end.shape.relayouts() ? 1 : end.shape.block;
  return sparse::tensor_of(matrix, std::move(parts),
                           [end, depth, tiles = buffers.front().size()](std::size_t part) {
                             sparse::Chunked chunks = part_of(end, depth, part % tiles);
                             chunks.column = part / tiles * end.columns;
                             return chunks;
                           });
}

std::vector<BufferId> made(Assembly& assembly, const DenseEnd& end,
                           const std::vector<BufferId>& wanted) {
  return end.shape.relayouts() ? assembly.stored(end.storage, "results in blocks") : wanted;
}

void add_rows_out(Assembly& assembly, const DenseEnd& end, const std::vector<BufferId>& made,
                  const std::vector<BufferId>& wanted) {
  if (made == wanted) return;
  const std::vector<BufferId> panels = assembly.stored(end.storage, "results in rows");
  const std::string name = fmt::format("relayout {}", end.name);
  program::ComputeSet set{name, {}};
  program::Exchange exchange{name, {}};
  for (std::uint32_t t = 0; t < end.storage.tiles(); ++t) {
    const sparse::Chunked part = part_of(end, end.shape.block, t);
    sparse::add_transposition(assembly, set, end.shape, TileId(t), part, {made[t]}, {panels[t]},
                              Direction::to_rows);
    sparse::panels_to_rows(exchange, {end.shape, end.storage, wanted}, part, panels[t]);
  }
  assembly.add_step(std::move(set), end.measured);
  assembly.add_step(std::move(exchange), end.measured);
}

}  // namespace tessera::spmm_static
