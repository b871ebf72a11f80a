#include "kernels/spmm_static/steps.h"
#include "kernels/spmm_static/work_list.h"

namespace tessera::spmm_static {

using program::Argument;

namespace {

std::string reduce_codelet(const sparse::Shape& shape) {
  const char* types = kernels::type_name(shape.type, shape.partials);
  if (shape.output_runs() == 1) return fmt::format("reduce_{}", types);
  return fmt::format("reduce_{}_{}x{}", types, shape.output_runs(),
                     shape.y_depth() * shape.partial_bytes() / 8);
}

}  // namespace

program::Exchange partials_sent(const Partition& partition, const Reduction& reduction,
                                const TilesOfParts& tiles, const std::vector<BufferId>& received) {
  const sparse::Shape& shape = partition.shape;
  program::Exchange exchange{"partial rows", {}};
  const std::uint64_t pieces = shape.output_runs();
  for (std::size_t i = 0; i < reduction.destinations().size(); ++i) {
    for (const Segment& segment : reduction.destinations()[i].segments) {
      const std::uint64_t row_bytes = partition.row_bytes(partition.parts[segment.part]);
      const std::uint64_t bytes = segment.elements() * shape.partial_bytes();
      const std::uint64_t begin = segment.begin * shape.partial_bytes();
      std::uint64_t at = segment.received;
      for (const Source& source : reduction.sources(segment)) {
        const BufferId from = tiles[segment.part][source.share].partials;
        for (std::uint64_t piece = 0; piece < pieces; ++piece) {
          const std::uint64_t offset =
              source.row * row_bytes + piece * row_bytes / pieces + begin / pieces;
          exchange.copies.push_back(
              {{from, word(offset)}, word(bytes / pieces), {{received[i], word(at)}}});
          at += bytes / pieces;
        }
      }
    }
  }
  return exchange;
}

program::Exchange results_sent(const Partition& partition, const Reduction& reduction,
                               const TilesOfParts& tiles, const std::vector<BufferId>& results,
                               const std::vector<BufferId>& zeros) {
  const std::uint32_t size = partition.shape.bytes();
  program::Exchange exchange{"rows of y", {}};
  for (std::size_t i = 0; i < reduction.destinations().size(); ++i) {
    const Destination& to = reduction.destinations()[i];
    std::uint64_t at = to.first * size;
    for (const Segment& segment : to.segments) {
      const std::uint64_t bytes = segment.elements() * size;
      Place from{};
      if (segment.sources == 0) {
        from = {zeros[i]};
      } else {
        const Source& source = reduction.sources(segment).front();
        const std::uint64_t row_bytes = partition.row_bytes(partition.parts[segment.part]);
        from = {tiles[segment.part][source.share].partials,
                word(source.row * row_bytes + segment.begin * size)};
      }
      exchange.copies.push_back({from, word(bytes), {{results[to.tile], word(at)}}});
      at += bytes;
    }
  }
  return exchange;
}

program::Vertex adding_vertex(Assembly& assembly, const sparse::Shape& shape, TileId tile,
                              Place received, Place results,
                              const std::vector<ReducingWorker>& workers) {
  std::vector<Argument> arguments{received, results};
  std::vector<std::byte> list;
  for (const ReducingWorker& worker : workers) {
    const std::vector<std::byte> part = segment_list(worker.parts);
    list.insert(list.end(), part.begin(), part.end());
  }
  const BufferId lists = assembly.list(index(tile), list, "segments");
  std::uint32_t first = 0;
  for (const ReducingWorker& worker : workers) {
    arguments.emplace_back(Place{lists, first * kSegmentBytes});
    arguments.emplace_back(word(worker.parts.size()));
    arguments.emplace_back(word(worker.first_word * 8));
    arguments.emplace_back(0U);
    first += word(worker.parts.size());
  }
  return {tile, assembly.codelet(reduce_codelet(shape)), program::Executor::all_workers, 0,
          std::move(arguments)};
}

program::ComputeSet added(Assembly& assembly, const Partition& partition,
                          const Reduction& reduction, const std::vector<BufferId>& received,
                          const std::vector<BufferId>& results, const std::vector<BufferId>& sums) {
  program::ComputeSet set{"add partial rows", {}};
  for (std::size_t i = 0; i < reduction.destinations().size(); ++i) {
    const Destination& to = reduction.destinations()[i];
    const Place place = to.home ? Place{results[to.tile], word(to.first * partition.shape.bytes())}
                                : Place{sums[i]};
    set.vertices.push_back(adding_vertex(assembly, partition.shape, TileId(to.tile), {received[i]},
                                         place, reduction.workers(to, assembly.contexts())));
  }
  return set;
}

program::Exchange sums_sent(const Partition& partition, const Reduction& reduction,
                            const std::vector<BufferId>& sums,
                            const std::vector<BufferId>& results) {
  const std::uint64_t size = partition.shape.bytes();
  program::Exchange exchange{"rows of y", {}};
  for (std::size_t i = 0; i < reduction.destinations().size(); ++i) {
    const Destination& from = reduction.destinations()[i];
    if (from.home) continue;
    std::uint64_t sent = 0;
    for (const Segment& segment : from.segments) {
      const std::uint64_t place = reduction.place(segment) * size;
      const std::uint64_t bytes = segment.elements() * size;
      sparse::scatter(exchange, {sums[i], word(sent)}, partition.y_storage(), results, place,
                      place + bytes);
      sent += bytes;
    }
  }
  return exchange;
}

}  // namespace tessera::spmm_static
