#include "kernels/pixelfly/sampled.h"

#include "kernels/pixelfly/unit_product.h"
#include "kernels/spmm_static/work_list.h"

namespace tessera::pixelfly {

using program::BufferId;
using program::Place;
using sparse::Assembly;
using spmm_static::BuffersOfRows;

namespace {

/// Partial blocks are summed in chunks of so many elements, which stay on one tile.
constexpr std::uint64_t kChunk = 8;

class Builder {
 public:
  Builder(Assembly& assembly, const Sampled& plan, const std::string& name)
      : assembly_(assembly), plan_(plan), partition_(plan.partition), name_(name) {
    add_tiles();
  }

  void build(const BuffersOfRows& a, const BuffersOfRows& b, const std::vector<BufferId>& results) {
    add_inputs(a, b);
    add_product();
    add_sums(assembly_, plan_, name_, partials(), results);
  }

 private:
  void add_tiles() {
    for (const Part& part : partition_.parts) {
      auto& tiles = tiles_.emplace_back();
      for (const Share& share : partition_.layer(part).shares) {
        const std::uint32_t tile = part.first_tile + share.place;
        SampledTile one{};
        const std::uint64_t a = plan_.a_bytes(part, share);
        const std::uint64_t b = plan_.b_bytes(part, share);
        one.a_blocks = assembly_.buffer(tile, a, "left needed");
        one.b_blocks = assembly_.buffer(tile, b, "right needed");
        one.a_rows = plan_.turns() ? assembly_.buffer(tile, a, "left rows") : one.a_blocks;
        one.b_rows = plan_.turns() ? assembly_.buffer(tile, b, "right rows") : one.b_blocks;
        one.partial = assembly_.buffer(tile, plan_.partial_bytes(share), "partial blocks");
        tiles.push_back(one);
      }
    }
  }

  void add_inputs(const BuffersOfRows& a, const BuffersOfRows& b) {
    program::Exchange exchange{name_ + "inputs", {}};
    for (std::uint32_t p = 0; p < tiles_.size(); ++p) {
      const Part& part = partition_.parts[p];
      const auto& shares = partition_.layer(part).shares;
      spmm_static::Takers left(partition_.block_rows), right(partition_.block_columns);
      for (std::uint32_t s = 0; s < shares.size(); ++s) {
        for (std::uint32_t i = 0; i < shares[s].rows.size(); ++i)
          left[shares[s].rows[i].row].push_back({tiles_[p][s].a_blocks, i});
        for (std::uint32_t i = 0; i < shares[s].columns.size(); ++i)
          right[shares[s].columns[i]].push_back({tiles_[p][s].b_blocks, i});
      }
      add_dense_rows(exchange, partition_, part, plan_.a, a, left);
      add_dense_rows(exchange, partition_, part, partition_.x, b, right);
    }
    assembly_.add_step(std::move(exchange));
  }

  void add_product() {
    program::ComputeSet set{name_ + "multiply", {}};
    for (std::uint32_t p = 0; p < tiles_.size(); ++p) {
      const Part& part = partition_.parts[p];
      const auto& shares = partition_.layer(part).shares;
      for (std::uint32_t s = 0; s < shares.size(); ++s)
        add_product(set, part, shares[s], tiles_[p][s]);
    }
    assembly_.add_step(std::move(set));
  }

  void add_product(program::ComputeSet& set, const Part& part, const Share& share,
                   const SampledTile& one) {
    const TileId tile{part.first_tile + share.place};
    if (plan_.turns()) {
      add_turning(assembly_, set, plan_, tile, part.width(), plan_.a_bytes(part, share),
                  one.a_blocks, one.a_rows);
      add_turning(assembly_, set, plan_, tile, part.width(), plan_.b_bytes(part, share),
                  one.b_blocks, one.b_rows);
    }
    const BufferId list = assembly_.list(index(tile), list_of(part, share), "list");
    set.vertices.push_back(gradient_vertex(assembly_, partition_.shape, tile, one, list,
                                           part.width(),
                                           divide(plan_, share, assembly_.contexts())));
  }

  /// For each block row the place of its rows of A, its blocks, the place of each one's rows of B.
  [[nodiscard]] std::vector<std::uint16_t> list_of(const Part& part, const Share& share) const {
    const std::uint64_t step = place_step(partition_, part);
    std::vector<std::uint16_t> list;
    for (std::size_t i = 0; i < share.rows.size(); ++i) {
      const spmm_static::RowRun& run = share.rows[i];
      list.push_back(static_cast<std::uint16_t>(i * step));
      list.push_back(static_cast<std::uint16_t>(run.last - run.first));
      for (std::uint64_t e = run.first; e < run.last; ++e) {
        const auto found =
            std::lower_bound(share.columns.begin(), share.columns.end(), partition_.deal.column[e]);
        list.push_back(static_cast<std::uint16_t>(
            static_cast<std::uint64_t>(found - share.columns.begin()) * step));
      }
    }
    return list;
  }

  [[nodiscard]] std::vector<std::vector<PartialRun>> partials() const {
    std::vector<std::vector<PartialRun>> made(tiles_.size());
    for (std::uint32_t p = 0; p < tiles_.size(); ++p) {
      const auto& shares = partition_.layer(partition_.parts[p]).shares;
      for (std::uint32_t s = 0; s < shares.size(); ++s)
        made[p].push_back({{tiles_[p][s].partial},
                           shares[s].first * plan_.area(),
                           shares[s].blocks() * plan_.area()});
    }
    return made;
  }

  Assembly& assembly_;
  const Sampled& plan_;
  const Partition& partition_;
  std::string name_;
  std::vector<std::vector<SampledTile>> tiles_;  ///< by part and share
};

}  // namespace

kernels::EvenStorage Sampled::results() const {
  const std::uint64_t elements = round_up(blocks.size() * area(), kChunk);
  return {elements * partition.shape.bytes(), kChunk * partition.shape.bytes(), partition.tiles};
}

std::uint64_t Sampled::a_bytes(const Part& part, const Share& share) const {
  return share.rows.size() * together * std::uint64_t{partition.shape.block} * part.width() *
         partition.shape.bytes();
}

std::uint64_t Sampled::b_bytes(const Part& part, const Share& share) const {
  if (!on_unit) return partition.x_bytes(part, share);
  return share.blocks() * std::uint64_t{partition.shape.block} * part.width() *
         partition.shape.bytes();
}

std::uint64_t Sampled::partial_bytes(const Share& share) const {
  const std::uint64_t elements = share.blocks() * together * area();
  return round_up(elements * data::element_bytes(partials()), std::uint64_t{8});
}

std::uint64_t Sampled::wanted_bytes(const Share& share) const {
  return round_up(wanted(share) * area() * data::element_bytes(partials()), std::uint64_t{8});
}

Sampled::Run Sampled::run(std::uint64_t e, std::uint64_t first) const {
  const std::uint64_t side = partition.shape.block;
  std::uint64_t of_a = first / side;
  std::uint64_t of_b = first % side;
  if (on_unit) {
    of_a = first / (side * line()) * line() + first % line();
    of_b = first % (side * line()) / line();
  }
  of_a += blocks[e].row * side;
  of_b += blocks[e].column * side;
  const std::uint64_t count = line() - first % line();
  if (transposed) return {of_b, of_a, count, down()};
  return {of_a, of_b, count, down()};
}

std::uint64_t Sampled::number(std::uint64_t row, std::uint64_t column) const {
  const std::uint64_t side = partition.shape.block;
  const std::uint64_t of_a = transposed ? column : row;
  const std::uint64_t of_b = transposed ? row : column;
  if (!on_unit) return of_a * side + of_b;
  return (of_a / line() * side + of_b) * line() + of_a % line();
}

sparse::Shape summing(const Sampled& plan) {
  sparse::Shape sums = plan.partition.shape;
  sums.gradient = true;
  sums.partials = plan.partials();
  return sums;
}

void add_sums(Assembly& assembly, const Sampled& plan, const std::string& name,
              const std::vector<std::vector<PartialRun>>& partials,
              const std::vector<BufferId>& results) {
  const kernels::EvenStorage home = plan.results();
  const std::uint64_t size = plan.partition.shape.bytes();
  const std::uint64_t partial = data::element_bytes(plan.partials());
  const std::uint64_t parts = partials.size();
  std::vector<BufferId> received;
  for (std::uint32_t t = 0; t < home.tiles(); ++t)
    received.push_back(assembly.buffer(t, home.bytes_on(t) / size * partial * parts, "received"));
  program::Exchange exchange{name + "partial blocks", {}};
  for (std::uint32_t p = 0; p < parts; ++p) {
    for (const PartialRun& run : partials[p]) {
      for (const auto& piece : home.pieces(run.first * size, (run.first + run.count) * size)) {
        const std::uint64_t held = home.bytes_on(piece.tile) / size * p;
        exchange.copies.push_back(
            {{run.from.buffer, word(run.from.offset + piece.at / size * partial)},
             word(piece.bytes / size * partial),
             {{received[piece.tile], word((held + piece.offset / size) * partial)}}});
      }
    }
  }
  assembly.add_step(std::move(exchange));
  program::ComputeSet set{name + "add", {}};
  const sparse::Shape shape = summing(plan);
  for (std::uint32_t t = 0; t < home.tiles(); ++t)
    set.vertices.push_back(adding_vertex(
        assembly, shape, TileId(t), {received[t]}, {results[t]},
        spmm_static::even_workers(shape, home.bytes_on(t) / size, parts, assembly.contexts())));
  assembly.add_step(std::move(set));
}

sparse::Chunked rows_in_blocks(const sparse::Shape& shape, std::uint32_t width,
                               std::uint64_t rows) {
  const std::uint64_t elements = width * rows;
  return {{0, elements}, shape.x_depth(), width, {0, elements}, 0, width};
}

void add_turning(Assembly& assembly, program::ComputeSet& set, const Sampled& plan, TileId tile,
                 std::uint32_t width, std::uint64_t bytes, BufferId from, BufferId to) {
  const sparse::Shape& shape = plan.partition.shape;
  const std::uint64_t elements = bytes / shape.bytes();
  sparse::add_transposition(assembly, set, shape, tile,
                            rows_in_blocks(shape, width, elements / width), {from}, {to},
                            sparse::Direction::to_rows);
}

program::Vertex gradient_vertex(Assembly& assembly, const sparse::Shape& shape, TileId tile,
                                const SampledTile& buffers, BufferId list, std::uint32_t width,
                                const std::vector<SampledWorker>& workers) {
  const std::uint32_t row = width * shape.bytes();
  const std::uint32_t block = shape.block * shape.block * std::uint32_t{sizeof(float)};
  std::vector<program::Argument> arguments{
      Place{buffers.b_rows}, Place{buffers.a_rows}, row / 8 - 1, row, shape.block, 0U};
  // A pass is a row of a block of results, which is a row of A and all rows of one of B's.
  for (const SampledWorker& worker : workers) {
    arguments.emplace_back(Place{list, 2 * worker.list});
    arguments.emplace_back(Place{buffers.partial, worker.blocks * block});
    arguments.emplace_back(worker.passes == 0 ? 0 : worker.rows);
    arguments.emplace_back(worker.first);
    arguments.emplace_back(worker.passes);
    arguments.emplace_back(0U);
  }
  const char* type = shape.type == program::Type::f16 ? "f16" : "f32";
  return {tile, assembly.codelet(fmt::format("block_gradient_{}", type)),
          program::Executor::all_workers, 0, std::move(arguments)};
}

namespace {

/// The first row of each part when the rows of a share are cut after equal numbers of blocks.
std::vector<std::size_t> cut_rows(const Share& share, std::uint32_t parts) {
  std::vector<std::size_t> at{0};
  std::uint64_t done = 0;
  for (std::size_t i = 0; i < share.rows.size(); ++i) {
    const std::uint64_t blocks = share.rows[i].last - share.rows[i].first;
    while (at.size() < parts && (done + blocks / 2) * parts >= share.blocks() * at.size())
      at.push_back(i);
    done += blocks;
  }
  at.resize(parts + std::size_t{1}, share.rows.size());
  return at;
}

std::vector<SampledWorker> divided(const Sampled& plan, const Share& share, std::uint32_t contexts,
                                   std::uint32_t pass_parts) {
  const kernels::EvenSplit passes{plan.partition.shape.block, pass_parts};
  const std::vector<std::size_t> at = cut_rows(share, contexts / pass_parts);
  std::vector<SampledWorker> workers;
  std::uint32_t list = 0;
  std::uint32_t blocks = 0;
  for (std::size_t i = 0; i + 1 < at.size(); ++i) {
    const auto rows = static_cast<std::uint32_t>(at[i + 1] - at[i]);
    std::uint32_t own = 0;
    for (std::size_t row = at[i]; row < at[i + 1]; ++row)
      own += static_cast<std::uint32_t>(share.rows[row].last - share.rows[row].first);
    for (std::uint32_t j = 0; j < pass_parts; ++j)
      workers.push_back(
          {rows, word(passes.begin(j)), word(passes.part(j).size()), list, blocks, own});
    list += 2 * rows + own;
    blocks += own;
  }
  workers.resize(contexts);
  return workers;
}

/// Blocks x rows of the busiest worker.
std::uint64_t most_work(const std::vector<SampledWorker>& workers) {
  std::uint64_t most = 0;
  for (const SampledWorker& worker : workers)
    most = std::max(most, std::uint64_t{worker.own} * worker.passes);
  return most;
}

}  // namespace

std::vector<SampledWorker> divide(const Sampled& plan, const Share& share, std::uint32_t contexts) {
  std::vector<SampledWorker> best;
  for (std::uint32_t parts = 1; parts <= std::min(contexts, plan.partition.shape.block); ++parts) {
    std::vector<SampledWorker> one = divided(plan, share, contexts, parts);
    if (parts == 1 || most_work(one) < most_work(best)) best = std::move(one);
  }
  return best;
}

void add_sampled(Assembly& assembly, const Sampled& plan, const std::string& name,
                 const BuffersOfRows& a, const BuffersOfRows& b,
                 const std::vector<BufferId>& results) {
  if (plan.on_unit)
    add_unit_product(assembly, plan, name, a, b, results);
  else
    Builder(assembly, plan, name).build(a, b, results);
}

}  // namespace tessera::pixelfly
