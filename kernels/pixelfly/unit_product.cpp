#include "kernels/pixelfly/unit_product.h"

#include "kernels/pixelfly/squares.h"

namespace tessera::pixelfly {

using gemm::Vertices;
using program::BufferId;
using program::Place;
using sparse::Assembly;
using spmm_static::BuffersOfRows;
using spmm_static::RowRun;

namespace {

/// How rows of A become weights: where the unit gives other outputs at once than it takes inputs
/// of a block, pieces of the block rows that are weights together are regrouped.
struct Weights {
  std::uint64_t pieces;  ///< 0: they are as they lie
  Vertices::Chunks chunks;
  bool to_blocks;
};
Weights weights_of(const Sampled& plan, const Part& part) {
  const sparse::Shape& shape = plan.partition.shape;
  const std::uint32_t inputs = shape.x_depth();
  const std::uint32_t outputs = shape.unit.columns;
  const std::uint64_t columns = part.width();
  if (inputs == outputs) return {0, {}, false};
  if (inputs > outputs)
    return {shape.block / inputs, {columns, inputs / outputs, outputs * shape.bytes()}, true};
  return {shape.block * plan.together / outputs,
          {columns, outputs / inputs, inputs * shape.bytes()},
          false};
}

/// Block rows of A that are weights together times the rows of B of so many blocks.
Vertices::Part product_of(const Sampled& plan, const Part& part, std::uint64_t blocks) {
  const sparse::Shape& shape = plan.partition.shape;
  return {blocks * shape.block, shape.block * plan.together / shape.unit.columns,
          part.width() / square_columns(shape), false};
}

/// What a tile holds: rows of A as they come and as weights, positions of B, partial blocks.
struct UnitTile {
  BufferId blocks, weights, positions, partial;
};

class UnitBuilder {
 public:
  UnitBuilder(Assembly& assembly, const Sampled& plan, const std::string& name)
      : assembly_(assembly),
        plan_(plan),
        partition_(plan.partition),
        shape_(plan.partition.shape),
        name_(name),
        dense_(assembly.dense()) {}

  void build(const BuffersOfRows& a, const BuffersOfRows& b, const std::vector<BufferId>& results) {
    for (const Part& part : partition_.parts) add_tiles(part);
    program::Exchange exchange{name_ + "inputs", {}};
    program::ComputeSet set{name_ + "multiply", {}};
    std::vector<std::vector<PartialRun>> partials(tiles_.size());
    for (std::uint32_t p = 0; p < tiles_.size(); ++p) {
      const Part& part = partition_.parts[p];
      const auto& shares = partition_.layer(part).shares;
      add_weights_in(exchange, part, tiles_[p], a);
      add_positions_in(exchange, part, tiles_[p], b);
      for (std::uint32_t s = 0; s < shares.size(); ++s) {
        add_product(set, part, shares[s], tiles_[p][s]);
        add_partials(shares[s], tiles_[p][s].partial, partials[p]);
      }
    }
    assembly_.add_step(std::move(exchange));
    assembly_.add_step(std::move(set));
    add_sums(assembly_, plan_, name_, partials, results);
  }

 private:
  /// Elements of B's rows of a block; of a row's weights.
  [[nodiscard]] std::uint64_t block_elements(const Part& part) const {
    return std::uint64_t{shape_.block} * part.width();
  }
  [[nodiscard]] std::uint64_t weight_elements(const Part& part) const {
    return plan_.together * block_elements(part);
  }

  void add_tiles(const Part& part) {
    auto& tiles = tiles_.emplace_back();
    const bool regroups = weights_of(plan_, part).pieces > 0;
    for (const Share& share : partition_.layer(part).shares) {
      const std::uint32_t tile = part.first_tile + share.place;
      const std::uint64_t a = plan_.a_bytes(part, share);
      UnitTile one{};
      one.blocks = assembly_.buffer(tile, a, "left needed");
      one.weights = regroups ? assembly_.buffer(tile, a, "left regrouped") : one.blocks;
      one.positions = assembly_.buffer(tile, plan_.b_bytes(part, share), "positions");
      one.partial = assembly_.buffer(tile, plan_.partial_bytes(share), "partial blocks");
      tiles.push_back(one);
    }
  }

  void add_weights_in(program::Exchange& exchange, const Part& part,
                      const std::vector<UnitTile>& tiles, const BuffersOfRows& a) const {
    const auto& shares = partition_.layer(part).shares;
    spmm_static::Takers takers(plan_.block_rows);
    const std::uint32_t together = plan_.together;
    for (std::uint32_t s = 0; s < shares.size(); ++s) {
      for (std::uint32_t i = 0; i < shares[s].rows.size(); ++i) {
        const std::uint32_t first = shares[s].rows[i].row * together;
        for (std::uint32_t j = 0; j < together && first + j < plan_.block_rows; ++j)
          takers[first + j].push_back({tiles[s].blocks, i * together + j});
      }
    }
    add_dense_rows(exchange, partition_, part, plan_.a, a, takers);
  }

  /// Where a block's rows of B go: its place in the row, elements of one depth block of the row.
  struct Position {
    BufferId buffer;
    std::uint64_t first, step;
  };
  void add_positions_in(program::Exchange& exchange, const Part& part,
                        const std::vector<UnitTile>& tiles, const BuffersOfRows& b) const {
    const auto& shares = partition_.layer(part).shares;
    std::vector<std::vector<Position>> takers(partition_.block_columns);
    const std::uint64_t each = std::uint64_t{shape_.block} * square_columns(shape_);
    for (std::uint32_t s = 0; s < shares.size(); ++s) {
      for (const RowRun& run : shares[s].rows) {
        const std::uint64_t begin = (run.first - shares[s].first) * block_elements(part);
        for (std::uint64_t e = run.first; e < run.last; ++e)
          takers[partition_.deal.column[e]].push_back(
              {tiles[s].positions, begin + (e - run.first) * each, (run.last - run.first) * each});
      }
    }
    for (std::uint32_t column = 0; column < takers.size(); ++column)
      if (!takers[column].empty()) add_squares_in(exchange, part, column, takers[column], b);
  }
  void add_squares_in(program::Exchange& exchange, const Part& part, std::uint32_t column,
                      const std::vector<Position>& takers, const BuffersOfRows& b) const {
    const std::uint64_t depth = shape_.x_depth();
    const std::uint64_t square = depth * square_columns(shape_);
    const std::uint64_t size = shape_.bytes();
    for (std::uint64_t chunk = 0; chunk < shape_.block / depth; ++chunk) {
      const std::uint64_t row = std::uint64_t{column} * shape_.block + chunk * depth;
      std::size_t operand = partition_.x.size() - 1;
      while (partition_.x[operand].first > row) --operand;
      const DenseRows& from = partition_.x[operand];
      std::uint64_t first = (row - from.first) * partition_.columns + part.begin * depth;
      for (std::uint64_t g = 0; g < part.width() / square_columns(shape_); ++g, first += square)
        sparse::gather(
            exchange, from.storage, b[operand], first * size, (first + square) * size,
            [&](std::uint32_t offset) {
              std::vector<Place> to;
              to.reserve(takers.size());
              for (const Position& one : takers)
                to.push_back({one.buffer,
                              word((one.first + g * one.step + chunk * square) * size) + offset});
              return to;
            });
    }
  }

  void add_product(program::ComputeSet& set, const Part& part, const Share& share,
                   const UnitTile& one) {
    const TileId tile{part.first_tile + share.place};
    const std::uint64_t size = shape_.bytes();
    const kernels::BlockShape& unit = shape_.unit;
    const Weights weights = weights_of(plan_, part);
    const auto pieces = weights.pieces * share.rows.size();
    for (std::uint64_t i = 0; i < pieces; ++i) {
      const std::uint32_t at = word(i * weight_elements(part) / weights.pieces * size);
      set.vertices.push_back(dense_.regrouping(tile, weights.chunks, weights.to_blocks,
                                               {one.blocks, at}, {one.weights, at}));
    }
    for (std::uint64_t i = 0; i < share.rows.size(); ++i) {
      const RowRun& run = share.rows[i];
      const std::uint64_t before = run.first - share.first;
      const Vertices::Part product = product_of(plan_, part, run.last - run.first);
      set.vertices.push_back(dense_.product(
          tile, unit, product, {product.rows * unit.x_bytes(), product.rows * unit.y_bytes()},
          {one.weights, word(i * weight_elements(part) * size)},
          {one.positions, word(before * block_elements(part) * size)},
          {one.partial, word(before * plan_.together * plan_.area() * unit.partial_bytes)}));
    }
  }

  /// Sums lie as [outputs at once][row of B], in which a block has a line of each row; in its
  /// results these lie behind each other, as [outputs at once][its rows].
  void add_partials(const Share& share, BufferId partial, std::vector<PartialRun>& into) const {
    const std::uint64_t side = shape_.block;
    const std::uint64_t line = plan_.line();
    const std::uint64_t at_once = shape_.unit.columns;
    for (const RowRun& run : share.rows) {
      const std::uint64_t before = (run.first - share.first) * plan_.together * plan_.area();
      const std::uint64_t positions = (run.last - run.first) * side;
      for (std::uint64_t e = run.first; e < run.last; ++e) {
        for (std::uint64_t b = plan_.of_dealt[e]; b < plan_.of_dealt[e + 1]; ++b) {
          const std::uint64_t above = plan_.blocks[b].row % plan_.together * side;
          for (std::uint64_t at = 0; at < side; at += line)
            for (std::uint64_t row = 0; row < side; ++row) {
              const std::uint64_t output = above + at;
              const std::uint64_t sum =
                  (output / at_once * positions + (e - run.first) * side + row) * at_once +
                  output % at_once;
              add_run(into, {{partial, word((before + sum) * shape_.unit.partial_bytes)},
                             b * plan_.area() + at * side + row * line,
                             line});
            }
        }
      }
    }
  }
  /// As part of the last one, if it goes on there.
  void add_run(std::vector<PartialRun>& into, const PartialRun& run) const {
    if (!into.empty()) {
      PartialRun& last = into.back();
      const std::uint64_t end = last.from.offset + last.count * shape_.unit.partial_bytes;
      if (last.from.buffer == run.from.buffer && end == run.from.offset &&
          last.first + last.count == run.first) {
        last.count += run.count;
        return;
      }
    }
    into.push_back(run);
  }

  Assembly& assembly_;
  const Sampled& plan_;
  const Partition& partition_;
  const sparse::Shape& shape_;
  std::string name_;
  Vertices dense_;
  std::vector<std::vector<UnitTile>> tiles_;  ///< by part and share
};

}  // namespace

void add_unit_product(Assembly& assembly, const Sampled& plan, const std::string& name,
                      const BuffersOfRows& a, const BuffersOfRows& b,
                      const std::vector<BufferId>& results) {
  UnitBuilder(assembly, plan, name).build(a, b, results);
}

std::uint64_t unit_receives(const Sampled& plan, const Part& part, const Share& share) {
  return plan.b_bytes(part, share) /
         (std::uint64_t{plan.partition.shape.x_depth()} * square_columns(plan.partition.shape) *
          plan.partition.shape.bytes());
}

std::uint64_t unit_product_cycles(const Sampled& plan, const Part& part, const Share& share,
                                  gemm::VertexCosts& costs) {
  const sparse::Shape& shape = plan.partition.shape;
  const Weights weights = weights_of(plan, part);
  std::uint64_t cycles = 0;
  for (const RowRun& run : share.rows) {
    cycles += costs.product(shape.unit, product_of(plan, part, run.last - run.first));
    if (weights.pieces > 0)
      cycles += weights.pieces * costs.regrouping(weights.chunks, weights.to_blocks);
  }
  return cycles;
}

}  // namespace tessera::pixelfly
