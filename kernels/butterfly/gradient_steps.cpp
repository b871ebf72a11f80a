#include "kernels/butterfly/gradient_steps.h"

#include <cstring>

#include "kernels/butterfly/block_product.h"
#include "kernels/sparse/code/relayout.h"

namespace tessera::butterfly {

namespace {

class WordSteps : public GradientSteps {
 public:
  explicit WordSteps(Assembly& assembly) : assembly_(assembly) {}

  std::vector<BufferId> twiddles(const RowPass& pass, bool adjoint) override {
    return assembly_.twiddles(pass, adjoint);
  }
  [[nodiscard]] bool in_place() const override { return true; }
  void apply(const RowPass& pass, const std::vector<BufferId>& twiddles,
             const std::vector<BufferId>& in, const std::vector<BufferId>& out) override {
    for (std::uint32_t t = 0; t < assembly_.tiles; ++t)
      assembly_.add(assembly_.vertices.pass(TileId(t), pass, assembly_.geometry.units(t).size(),
                                            {twiddles[t]}, in[t], out[t]));
  }
  void add_products(const Products& of) override {
    for (std::uint32_t t = 0; t < assembly_.tiles; ++t)
      assembly_.add(assembly_.vertices.products(TileId(t), of.pass,
                                                assembly_.geometry.units(t).size(),
                                                {of.sums[t], word(of.layout.stage_begin(of.stage))},
                                                of.layout.bytes(), of.gradient[t], of.x[t]));
  }

 private:
  Assembly& assembly_;
};

/// Blocks: the sum runs along columns, so what comes back is weights of the product, as it lies or
/// regrouped, and rows of what went in pass by, turned: [pair][columns at once][row][column].
class BlockSteps : public GradientSteps {
 public:
  BlockSteps(Assembly& assembly, std::uint32_t contexts)
      : assembly_(assembly),
        problem_(assembly.geometry.problem),
        outer_(problem_.outer),
        contexts_(contexts),
        product_(assembly, contexts),
        gemm_code_("gemm"),
        sparse_code_("sparse/code"),
        gemm_(gemm_code_, assembly.program, contexts),
        turn_(assembly.program.add_codelet(
            sparse_code_[problem_.type() == program::Type::f16 ? "transpose_f16"
                                                               : "transpose_f32"])) {
    product_.begin_round();
    turned_ = assembly_.empty_rows("x turned");
    if (regroups()) weights_ = assembly_.empty_rows("weights");
  }

  std::vector<BufferId> twiddles(const RowPass& pass, bool adjoint) override {
    return product_.twiddles(pass, adjoint);
  }
  [[nodiscard]] bool in_place() const override { return product_.in_place(); }
  void apply(const RowPass& pass, const std::vector<BufferId>& twiddles,
             const std::vector<BufferId>& in, const std::vector<BufferId>& out) override {
    product_.apply(pass, twiddles, in, out);
  }
  void add_products(const Products& of) override {
    for (std::uint32_t t = 0; t < assembly_.tiles; ++t) {
      assembly_.add(turning(t, of.pass, of.x[t]));
      if (regroups()) add_regrouping(t, of.gradient[t]);
      add_products(t, of);
    }
  }

 private:
  [[nodiscard]] bool regroups() const { return problem_.shape.depth != outer_.columns; }
  [[nodiscard]] std::uint64_t columns(std::uint32_t tile) const {
    return assembly_.geometry.units(tile).size() * problem_.unit_columns();
  }
  [[nodiscard]] std::uint64_t row_bytes(std::uint32_t tile) const {
    return columns(tile) * problem_.padded() * outer_.input_bytes;
  }

  /// A product for each leg of a pair that comes back.
  void add_products(std::uint32_t t, const Products& of) {
    const std::uint64_t side = std::uint64_t{2} * problem_.padded();
    const gemm::Vertices::Part part{side, problem_.padded() / outer_.columns,
                                    columns(t) / outer_.depth, false};
    const gemm::Vertices::Steps steps{side * outer_.x_bytes(), side * outer_.y_bytes()};
    const std::uint64_t row = row_bytes(t);
    for (std::uint32_t group = 0; group < of.pass.groups(); ++group) {
      const std::uint64_t first = of.pass.first_row(problem_, group);
      const std::uint64_t sums =
          of.layout.stage_begin(of.stage) + std::uint64_t{group} * of.layout.pair_bytes();
      for (std::uint64_t leg = 0; leg < 2; ++leg) {
        const std::uint64_t from = first + (leg << of.pass.first_place(problem_));
        assembly_.add(gemm_.product(TileId(t), outer_, part, steps,
                                    {regroups() ? weights_[t] : of.gradient[t], word(from * row)},
                                    {turned_[t], word(std::uint64_t{2} * group * row)},
                                    {of.sums[t], word(sums + leg * of.layout.pair_bytes() / 2)}));
      }
    }
  }

  /// Features at a time to outputs at a time.
  void add_regrouping(std::uint32_t t, BufferId gradient) {
    const std::uint32_t wide = std::max(problem_.shape.depth, outer_.columns);
    const std::uint32_t narrow = std::min(problem_.shape.depth, outer_.columns);
    const gemm::Vertices::Chunks chunks{columns(t), wide / narrow, narrow * outer_.input_bytes};
    const std::uint64_t step = columns(t) * wide * outer_.input_bytes;
    for (std::uint64_t at = 0; at < assembly_.geometry.bytes(t); at += step)
      assembly_.add(gemm_.regrouping(TileId(t), chunks, problem_.shape.depth > outer_.columns,
                                     {gradient, word(at)}, {weights_[t], word(at)}));
  }

  /// Squares of words of every pair's rows.
  [[nodiscard]] std::vector<sparse::SquareRun> squares(std::uint32_t t, const RowPass& pass) const {
    const std::uint64_t size = outer_.input_bytes;
    const std::uint64_t lanes = kWordBytes / size;
    const std::uint64_t depth = problem_.shape.depth;
    const std::uint64_t row = row_bytes(t);
    const std::uint64_t square = depth * outer_.depth * size;
    const auto half = [](std::uint64_t value) { return static_cast<std::uint16_t>(value); };
    std::vector<sparse::SquareRun> runs;
    const auto add_line = [&](std::uint64_t from, std::uint64_t to) {
      for (std::uint64_t first = 0; first < depth; first += lanes)
        runs.push_back({word(from + first * size), word(to + first * outer_.depth * size),
                        half(outer_.depth / lanes), half(depth * size), half(lanes * depth * size),
                        half(outer_.depth * size), kWordBytes, 0});
    };
    for (std::uint32_t group = 0; group < pass.groups(); ++group)
      for (std::uint64_t leg = 0; leg < 2; ++leg) {
        const std::uint64_t from =
            pass.first_row(problem_, group) + (leg << pass.first_place(problem_));
        for (std::uint64_t line = 0; line < problem_.lines(); ++line)
          for (std::uint64_t g = 0; g < columns(t) / outer_.depth; ++g)
            add_line(from * row + line * columns(t) * depth * size + g * square,
                     std::uint64_t{2} * group * row +
                         ((2 * g + leg) * problem_.lines() + line) * square);
      }
    return runs;
  }

  program::Vertex turning(std::uint32_t t, const RowPass& pass, BufferId x) {
    const std::vector<sparse::SquareRun> runs = squares(t, pass);
    const std::uint64_t bytes = runs.size() * sizeof(sparse::SquareRun);
    // Contents in a sample too: the tile code goes by them.
    const BufferId list = assembly_.program.add_buffer(
        {TileId(t), bytes, 8, false, program::Category::tensors,
         [runs](std::span<std::byte> into) { std::memcpy(into.data(), runs.data(), into.size()); },
         "squares"});
    program::Vertex vertex{
        TileId(t), turn_, program::Executor::all_workers, 0, {Place{x}, Place{turned_[t]}}};
    const EvenSplit split{runs.size(), contexts_};
    for (std::uint32_t w = 0; w < contexts_; ++w) {
      const Interval mine = split.part(w);
      const std::uint64_t first = mine.size() == 0 ? 0 : mine.begin;
      vertex.arguments.emplace_back(Place{list, word(first * sizeof(sparse::SquareRun))});
      vertex.arguments.emplace_back(word(mine.size()));
    }
    return vertex;
  }

  Assembly& assembly_;
  const Problem& problem_;
  const kernels::BlockShape& outer_;
  std::uint32_t contexts_;
  BlockProduct product_;
  elf::KernelCode gemm_code_, sparse_code_;
  gemm::Vertices gemm_;
  std::uint32_t turn_;
  std::vector<BufferId> turned_, weights_;  ///< by tile
};

}  // namespace

std::unique_ptr<GradientSteps> word_steps(Assembly& assembly) {
  return std::make_unique<WordSteps>(assembly);
}

std::unique_ptr<GradientSteps> block_steps(Assembly& assembly, std::uint32_t contexts) {
  return std::make_unique<BlockSteps>(assembly, contexts);
}

}  // namespace tessera::butterfly
