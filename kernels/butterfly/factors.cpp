#include <algorithm>
#include <cstring>

#include "kernels/butterfly/statement.h"
#include "kernels/sparse/code/relayout.h"
#include "sim/data/element.h"

namespace tessera::butterfly {

namespace {

/// Scalar twiddles: a scalar times packed words.
class WordFactors : public Factors {
 public:
  explicit WordFactors(Statement& statement) : statement_(statement) {}

  BufferId twiddles(const RowPass& pass, bool adjoint) override {
    return statement_.twiddles(pass, twiddle_bytes(statement_.geometry().problem, pass),
                               [pass, adjoint, its = statement_.operands()](
                                   std::uint32_t part, Interval groups, std::span<std::byte> into) {
                                 its->twiddles.fill(pass, part, adjoint, groups, into);
                               });
  }
  [[nodiscard]] bool in_place() const override { return true; }
  void begin_round() override {}
  void apply(const RowPass& pass, BufferId twiddles, BufferId in, BufferId out) override {
    statement_.add(
        unit_calls(statement_.geometry(), statement_.functions().pass(pass), {twiddles}, in, out));
  }
  void add_products(const Products& of) override {
    statement_.add(unit_calls(statement_.geometry(),
                              statement_.functions().products(of.pass, of.layout.bytes()),
                              {of.sums, word(of.layout.stage_begin(of.stage))}, of.gradient, of.x));
  }

 private:
  Statement& statement_;
};

/// Partition of one side of a block pair's product: if a padded block is one block of the matrix
/// unit, one call takes both legs (their distance is the legs'); else each leg has its own call.
struct BlockCut {
  std::uint32_t calls;     ///< 1 or 2
  std::uint32_t blocks;    ///< blocks of the matrix unit per call
  std::uint32_t features;  ///< features of one block

  BlockCut(std::uint32_t padded, std::uint32_t of_one)
      : calls(padded == of_one ? 1 : 2), blocks(2 * padded / of_one / calls), features(of_one) {}
  /// Feature `i` of block `b` of a call, counted over both legs with padding.
  [[nodiscard]] std::uint32_t feature(std::uint32_t call, std::uint32_t b, std::uint32_t i) const {
    return (call * blocks + b) * features + i;
  }
};

/// Inputs and outputs of a product.
struct BlockCuts {
  BlockCut in, out;

  explicit BlockCuts(const Problem& problem)
      : in(problem.padded(), problem.shape.depth), out(problem.padded(), problem.shape.columns) {}

  struct Of {
    const RowPass& pass;
    std::uint32_t part;  ///< part of the features
    bool adjoint;
  };
  /// Writes the twiddles of some groups in the order of the calls.
  void fill(const Problem& problem, const Twiddles& twiddles, const Of& of, Interval groups,
            std::span<std::byte> into) const {
    const std::uint32_t stage = of.pass.stages.front();
    const std::uint32_t padded = problem.padded();
    std::size_t at = 0;
    const auto value = [&](std::uint32_t pair, std::uint32_t row, std::uint32_t column) {
      const std::uint32_t b = problem.block;
      if (row % padded >= b || column % padded >= b) return 0.0;
      const std::uint32_t i = row / padded * b + row % padded;
      const std::uint32_t j = column / padded * b + column % padded;
      return twiddles.element(stage, pair, of.adjoint ? j : i, of.adjoint ? i : j).real();
    };
    for (std::uint64_t group = groups.begin; group < groups.end; ++group) {
      const std::uint32_t row = of.pass.first_row(problem, word(group));
      const std::uint32_t pair = problem.pair(stage, of.pass.rows.feature(of.part, row));
      for (std::uint32_t to = 0; to < out.calls; ++to)
        for (std::uint32_t from = 0; from < in.calls; ++from)
          for (std::uint32_t o = 0; o < out.blocks; ++o)
            for (std::uint32_t d = 0; d < in.blocks; ++d)
              for (std::uint32_t i = 0; i < in.features; ++i)
                for (std::uint32_t j = 0; j < out.features; ++j)
                  data::store_element(problem.type(), into, at++,
                                      value(pair, out.feature(to, o, j), in.feature(from, d, i)));
    }
  }
};

/// The transposition of every pair's rows in squares of words.
struct Turning {
  Geometry geometry;
  RowPass pass;

  /// Number of SquareRun entries of a tile.
  [[nodiscard]] std::uint64_t count(Tile tile) const {
    const Problem& p = geometry.problem;
    const std::uint64_t columns = geometry.units(tile).size() * p.unit_columns();
    return std::uint64_t{2} * pass.groups() * p.lines() * (columns / p.outer.depth) *
           (p.shape.depth / (kWordBytes / p.outer.input_bytes));
  }
  [[nodiscard]] std::vector<sparse::SquareRun> squares(Tile tile) const {
    const Problem& p = geometry.problem;
    const std::uint64_t size = p.outer.input_bytes;
    const std::uint64_t lanes = kWordBytes / size;
    const std::uint64_t depth = p.shape.depth;
    const std::uint64_t columns = geometry.units(tile).size() * p.unit_columns();
    const std::uint64_t row = columns * p.padded() * size;
    const std::uint64_t square = depth * p.outer.depth * size;
    const auto half = [](std::uint64_t value) { return static_cast<std::uint16_t>(value); };
    std::vector<sparse::SquareRun> runs;
    runs.reserve(count(tile));
    const auto add_line = [&](std::uint64_t from, std::uint64_t to) {
      for (std::uint64_t first = 0; first < depth; first += lanes)
        runs.push_back({word(from + first * size), word(to + first * p.outer.depth * size),
                        half(p.outer.depth / lanes), half(depth * size), half(lanes * depth * size),
                        half(p.outer.depth * size), kWordBytes, 0});
    };
    for (std::uint32_t group = 0; group < pass.groups(); ++group)
      for (std::uint64_t leg = 0; leg < 2; ++leg) {
        const std::uint64_t from = pass.first_row(p, group) + (leg << pass.first_place(p));
        for (std::uint64_t line = 0; line < p.lines(); ++line)
          for (std::uint64_t g = 0; g < columns / p.outer.depth; ++g)
            add_line(from * row + line * columns * depth * size + g * square,
                     std::uint64_t{2} * group * row + ((2 * g + leg) * p.lines() + line) * square);
      }
    return runs;
  }
  /// An array of the runs. Estimates need its contents too: the tile code's time depends on them.
  [[nodiscard]] BufferId add_list(Statement& statement) const {
    return statement.array(
        "squares",
        [turning = *this](Tile tile) { return turning.count(tile) * sizeof(sparse::SquareRun); },
        false,
        [turning = *this](Tile tile, std::span<std::byte> into) {
          const std::vector<sparse::SquareRun> runs = turning.squares(tile);
          std::memcpy(into.data(), runs.data(), into.size());
        });
  }
};

/// Every pair of blocks is a dense product on the code of gemm: columns of X are its activation
/// rows, the 2 x 2 blocks of a twiddle its weights. Rows of blocks are stored [input
/// group][column][input]. Gradients sum over columns: the outputs' gradient is the weights, as
/// stored or regrouped, and the transposed inputs are the activation rows: [pair][column
/// group][row][column].
class BlockFactors : public Factors {
 public:
  explicit BlockFactors(Statement& statement)
      : statement_(statement),
        problem_(statement.geometry().problem),
        shape_(problem_.shape),
        outer_(problem_.outer),
        cut_(problem_) {
    if (problem_.pass == Pass::grad_twiddles)
      turn_ = kernels::Codelet::of(
          statement.codes().transposition, statement.description(),
          problem_.type() == program::Type::f16 ? "transpose_f16" : "transpose_f32",
          statement.contexts());
  }

  BufferId twiddles(const RowPass& pass, bool adjoint) override {
    const std::uint32_t side = 2 * problem_.padded();
    return statement_.twiddles(
        pass, std::uint64_t{pass.groups()} * side * side * shape_.input_bytes,
        [pass, adjoint, problem = problem_, cut = cut_, its = statement_.operands()](
            std::uint32_t part, Interval groups, std::span<std::byte> into) {
          cut.fill(problem, its->twiddles, {pass, part, adjoint}, groups, into);
        });
  }

  /// True if sums go to a separate array first and become inputs by packing or regrouping.
  [[nodiscard]] bool in_place() const override { return packs() || regroups(); }

  void begin_round() override {
    if (in_place())
      sums_ = statement_.empty_rows("x", false, shape_.partial_bytes / shape_.input_bytes);
    if (regroups() && packs()) packed_ = statement_.empty_rows("x");
    if (problem_.pass != Pass::grad_twiddles) return;
    turned_ = statement_.empty_rows("x turned");
    if (regroups_gradient()) weights_ = statement_.empty_rows("weights");
  }

  void apply(const RowPass& pass, BufferId twiddles, BufferId in, BufferId out) override {
    add_pairs(pass, twiddles, in, in_place() ? sums_ : out);
    const BufferId packed = !regroups() ? out : packs() ? packed_ : sums_;
    if (packs())
      statement_.add([g = statement_.geometry(), &code = statement_.dense().packing(), from = sums_,
                      packed](Tile tile, Calls& calls) {
        const kernels::BlockShape& shape = g.problem.shape;
        calls.add(code, {g.bytes(tile) / shape.input_bytes * shape.partial_bytes / gemm::kPair},
                  {{from}, {packed}});
      });
    if (regroups()) add_regrouping(shape_.columns, shape_.depth, packed, out);
  }

  void add_products(const Products& of) override {
    add_turning(of.pass, of.x);
    if (regroups_gradient()) add_regrouping(shape_.depth, outer_.columns, of.gradient, weights_);
    add_outer_products(of);
  }

 private:
  [[nodiscard]] bool packs() const { return shape_.partial_bytes > shape_.input_bytes; }
  [[nodiscard]] bool regroups() const { return shape_.depth != shape_.columns; }
  [[nodiscard]] bool regroups_gradient() const { return shape_.depth != outer_.columns; }
  static std::uint64_t columns_of(const Geometry& geometry, Tile tile) {
    return geometry.units(tile).size() * geometry.problem.unit_columns();
  }

  /// Products of all pairs; of two calls on the same outputs the second accumulates.
  void add_pairs(const RowPass& pass, BufferId weights, BufferId x, BufferId y) {
    const plan::Function* codes[] = {
        &statement_.dense().product(shape_, false),
        cut_.in.calls > 1 ? &statement_.dense().product(shape_, true) : nullptr};
    statement_.add([g = statement_.geometry(), cut = cut_,
                    code = statement_.dense().product_code(shape_), first = codes[0],
                    further = codes[1], pass, weights, x, y](Tile tile, Calls& calls) {
      const kernels::BlockShape& shape = g.problem.shape;
      const std::uint64_t columns = columns_of(g, tile);
      const std::uint64_t row = g.units(tile).size() * g.problem.unit_bytes();
      const std::uint64_t leg = row << pass.first_place(g.problem);
      const std::uint64_t larger = shape.partial_bytes / shape.input_bytes;
      const gemm::ProductSteps steps{cut.in.calls == 1 ? leg : columns * shape.x_bytes(),
                                     cut.out.calls == 1 ? larger * leg : columns * shape.y_bytes()};
      std::uint64_t at = 0;
      for (std::uint32_t group = 0; group < pass.groups(); ++group) {
        const std::uint64_t begin = pass.first_row(g.problem, group) * row;
        for (std::uint32_t to = 0; to < cut.out.calls; ++to)
          for (std::uint32_t from = 0; from < cut.in.calls; ++from) {
            const Sizes sizes{columns, cut.out.blocks, cut.in.blocks};
            const Place operands[] = {{weights, word(at)},
                                      {x, word(begin + from * leg)},
                                      {y, word(larger * (begin + to * leg))}};
            calls.add(gemm::stepped_product(code, shape, from > 0, sizes, steps, operands),
                      from > 0 ? *further : *first, sizes);
            at += std::uint64_t{cut.out.blocks} * cut.in.blocks * shape.w_bytes();
          }
      }
    });
  }

  /// Regroups rows from lines of `had` features to lines of `wanted` features.
  void add_regrouping(std::uint32_t had, std::uint32_t wanted, BufferId from, BufferId to) {
    const std::uint32_t wide = std::max(had, wanted) * shape_.input_bytes;
    const std::uint32_t narrow = std::min(had, wanted) * shape_.input_bytes;
    statement_.add([g = statement_.geometry(),
                    &code = statement_.dense().regrouping(narrow, had > wanted), wide, narrow, from,
                    to](Tile tile, Calls& calls) {
      const std::uint64_t columns = columns_of(g, tile);
      for (std::uint64_t at = 0; at < g.bytes(tile); at += columns * wide)
        calls.add(code, {columns, wide / narrow}, {{from, word(at)}, {to, word(at)}});
    });
  }

  void add_turning(const RowPass& pass, BufferId x) {
    const Turning turning{statement_.geometry(), pass};
    const BufferId list = turning.add_list(statement_);
    statement_.add([turning, list, x, to = turned_, code = turn_](Tile tile, Calls& calls) {
      calls.add(code.all(code.dealt(
          {Place{x}, Place{to}}, turning.count(tile), [&](Interval mine, kernels::Arguments& into) {
            into.insert(into.end(), {Place{list, word(mine.begin * sizeof(sparse::SquareRun))},
                                     word(mine.size())});
          })));
    });
  }

  /// One product for each leg of a pair in the gradient.
  void add_outer_products(const Products& of) {
    const BufferId weights = regroups_gradient() ? weights_ : of.gradient;
    statement_.add([g = statement_.geometry(), &code = statement_.dense().product(outer_, false),
                    weights, turned = turned_, pass = of.pass, sums = of.sums,
                    begin = of.layout.stage_begin(of.stage),
                    pair_bytes = of.layout.pair_bytes()](Tile tile, Calls& calls) {
      const kernels::BlockShape& outer = g.problem.outer;
      const std::uint64_t side = std::uint64_t{2} * g.problem.padded();
      const std::uint64_t columns = columns_of(g, tile);
      const std::uint64_t row = columns * g.problem.padded() * outer.input_bytes;
      for (std::uint32_t group = 0; group < pass.groups(); ++group) {
        const std::uint64_t first = pass.first_row(g.problem, group);
        for (std::uint64_t leg = 0; leg < 2; ++leg) {
          const std::uint64_t from = first + (leg << pass.first_place(g.problem));
          const std::uint64_t at = begin + std::uint64_t{group} * pair_bytes + leg * pair_bytes / 2;
          calls.add(code, {side, g.problem.padded() / outer.columns, columns / outer.depth},
                    {{weights, word(from * row)},
                     {turned, word(std::uint64_t{2} * group * row)},
                     {sums, word(at)}});
        }
      }
    });
  }

  Statement& statement_;
  const Problem& problem_;
  const kernels::BlockShape& shape_;
  const kernels::BlockShape& outer_;
  BlockCuts cut_;
  kernels::Codelet turn_{};
  BufferId sums_{}, packed_{}, turned_{}, weights_{};
};

}  // namespace

std::unique_ptr<Factors> make_factors(Statement& statement) {
  if (statement.geometry().problem.blocked()) return std::make_unique<BlockFactors>(statement);
  return std::make_unique<WordFactors>(statement);
}

}  // namespace tessera::butterfly
