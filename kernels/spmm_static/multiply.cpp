#include "kernels/spmm_static/steps.h"
#include "kernels/spmm_static/work_list.h"

namespace tessera::spmm_static {

using program::Argument;

program::Vertex block_product(Assembly& assembly, const sparse::Shape& shape, TileId tile,
                              const ProductBuffers& buffers, std::uint32_t rows,
                              std::uint32_t width) {
  const std::uint32_t unroll = shape.unroll();
  const std::uint32_t x_bytes = shape.x_depth() * shape.bytes();  // of a position
  const std::uint32_t y_bytes = shape.y_depth() * shape.partial_bytes();
  std::vector<Argument> arguments{Place{buffers.values},
                                  Place{buffers.x},
                                  Place{buffers.list},
                                  rows,
                                  width * x_bytes,
                                  0U,
                                  0U,
                                  0U};
  const sparse::EvenSplit loops{width / unroll, assembly.contexts()};
  for (std::uint32_t w = 0; w < loops.parts; ++w) {
    const std::uint32_t first = word(loops.begin(w)) * unroll;
    arguments.emplace_back(first * x_bytes);
    arguments.emplace_back(Place{buffers.partials, first * y_bytes});
    arguments.emplace_back(word(loops.part(w).size()) - (unroll == 1 ? 3 : 2));
    arguments.emplace_back(shape.block * width * shape.partial_bytes());
    arguments.emplace_back(width * y_bytes);
    arguments.emplace_back(0U);
  }
  return {tile, assembly.codelet("blocks_" + shape.name()),
          shape.on_unit() ? program::Executor::supervisor : program::Executor::all_workers, 0,
          std::move(arguments)};
}

program::Vertex element_product(Assembly& assembly, const sparse::Shape& shape, TileId tile,
                                const ProductBuffers& buffers, std::uint32_t width,
                                std::uint32_t words, const std::vector<ElementPart>& workers) {
  const std::uint32_t row = width * shape.bytes();
  const std::uint32_t done = words == 2 ? 0 : row / 16 * 16;  // bytes of a row of X
  const std::uint32_t widen = shape.partial_bytes() / shape.bytes();
  std::vector<Argument> arguments{Place{buffers.x, done}, Place{buffers.partials, done * widen},
                                  row, row * widen};
  for (const ElementPart& part : workers) {
    const std::uint32_t pass = part.share.first_pass * words * 8;
    arguments.emplace_back(Place{buffers.list, 2 * part.list});
    arguments.emplace_back(Place{buffers.values, part.values * shape.bytes()});
    arguments.emplace_back(part.share.rows);
    arguments.emplace_back(part.share.passes);
    arguments.emplace_back(pass);
    arguments.emplace_back((part.share.first_row * row + pass) * widen);
  }
  return {tile, assembly.codelet(element_codelet(shape, words)), program::Executor::all_workers, 0,
          std::move(arguments)};
}

program::ComputeSet multiplied(Assembly& assembly, const Partition& partition,
                               const TilesOfParts& tiles) {
  program::ComputeSet set{"multiply", {}};
  const sparse::Shape& shape = partition.shape;
  const auto add = [&](const Part& part, const Share& share, const TileBuffers& tile_buffers) {
    const TileId tile{part.first_tile + share.place};
    const BufferId list = assembly.list(index(tile), row_list(partition, part, share), "list");
    const ProductBuffers buffers{tile_buffers.values, tile_buffers.x, list, tile_buffers.partials};
    if (shape.block > 1) {
      set.vertices.push_back(
          block_product(assembly, shape, tile, buffers, word(share.rows.size()), part.width()));
      return;
    }
    const std::uint32_t all = part.width() * shape.bytes() / 8;
    for (const std::uint32_t words : {2U, 1U}) {
      const std::uint32_t passes = words == 2 ? all / 2 : all % 2;
      if (passes == 0) continue;
      std::vector<ElementPart> parts;
      for (const WorkerShare& worker :
           divide(share, partition.work->of(words), passes, assembly.contexts())) {
        const std::uint64_t before =
            worker.rows == 0 ? share.first : share.rows[worker.first_row].first;
        const auto& value = partition.deal.value_begin;
        parts.push_back({word(before - share.first + worker.first_row),
                         word(value[before] - value[share.first]), worker});
      }
      set.vertices.push_back(
          element_product(assembly, shape, tile, buffers, part.width(), words, parts));
    }
  };
  for (std::uint32_t p = 0; p < partition.parts.size(); ++p) {
    const auto& shares = partition.layer(partition.parts[p]).shares;
    for (std::uint32_t s = 0; s < shares.size(); ++s)
      add(partition.parts[p], shares[s], tiles[p][s]);
  }
  return set;
}

}  // namespace tessera::spmm_static
