#include <algorithm>

#include "kernels/butterfly/assembly.h"
#include "kernels/gemm/vertices.h"
#include "sim/data/element.h"

namespace tessera::butterfly {

namespace {

/// How the product of a pair of blocks is cut: where a block is one block of the matrix unit, those
/// of both legs are as far apart as the legs, and one call takes them; else each leg has a call of
/// its own.
struct Cut {
  std::uint32_t calls;     ///< 1 or 2
  std::uint32_t blocks;    ///< of the matrix unit, in a call
  std::uint32_t features;  ///< of one of them

  Cut(std::uint32_t padded, std::uint32_t of_one)
      : calls(padded == of_one ? 1 : 2), blocks(2 * padded / of_one / calls), features(of_one) {}
  /// The feature, counted over both legs with padding, of feature `i` of block `b` of a call.
  [[nodiscard]] std::uint32_t feature(std::uint32_t call, std::uint32_t b, std::uint32_t i) const {
    return (call * blocks + b) * features + i;
  }
};

/// Every pair of blocks is a dense product on the code of gemm: columns of X are its rows, which
/// pass by the 2 x 2 blocks of a twiddle. Rows of blocks lie [inputs at a time][column][input].
class BlockProduct {
 public:
  BlockProduct(Assembly& assembly, std::uint32_t contexts)
      : assembly_(assembly),
        geometry_(assembly.geometry),
        problem_(geometry_.problem),
        shape_(problem_.shape),
        in_(problem_.padded(), shape_.depth),
        out_(problem_.padded(), shape_.columns),
        adjoint_(problem_.pass == Pass::grad_input),
        code_("gemm"),
        gemm_(code_, assembly.program, contexts) {}

  void build() {
    const auto passes = schedule(problem_, geometry_.plan.split_features, 1, adjoint_);
    assembly_.add_results();
    for (std::uint32_t round = 0; round < geometry_.plan.rounds; ++round) {
      assembly_.begin_round(round);
      add_rows(passes);
      for (const RowPass& pass : passes)
        if (round == 0) twiddles_.push_back(add_weights(pass));
      assembly_.add_inputs();
      for (std::size_t i = 0; i < passes.size(); ++i) add_pass(passes[i], twiddles_[i]);
      assembly_.finish_rows(x_, passes.back().rows);
    }
  }

 private:
  /// In layout planned the result is in the buffers that are first.
  void add_rows(const std::vector<RowPass>& passes) {
    const bool planned = problem_.layout == Layout::planned;
    const bool turns = planned && shape_.depth == shape_.columns && passes.size() % 2 == 1;
    if (turns) y_ = assembly_.empty_rows("x", true);
    x_ = assembly_.given_rows(&Operands::x, "x", passes.front().rows, planned && !turns);
    if (!turns) y_ = assembly_.empty_rows("x");
  }

  void add_pass(const RowPass& pass, const std::vector<BufferId>& twiddles) {
    if (pass.before) assembly_.add_swap(*pass.before, x_);
    for (std::uint32_t t = 0; t < assembly_.tiles; ++t) add_products(t, pass, twiddles[t]);
    if (shape_.depth == shape_.columns)
      std::swap(x_, y_);
    else
      for (std::uint32_t t = 0; t < assembly_.tiles; ++t) add_regrouping(t);
  }

  [[nodiscard]] std::uint64_t row_bytes(std::uint32_t tile) const {
    return geometry_.units(tile).size() * problem_.unit_bytes();
  }

  void add_products(std::uint32_t tile, const RowPass& pass, BufferId weights) {
    const std::uint64_t columns = geometry_.units(tile).size();
    const std::uint64_t row = row_bytes(tile);
    const std::uint64_t leg = row << pass.first_place(problem_);
    const gemm::Vertices::Steps steps{in_.calls == 1 ? leg : columns * shape_.x_bytes(),
                                      out_.calls == 1 ? leg : columns * shape_.y_bytes()};
    std::uint64_t at = 0;
    for (std::uint32_t group = 0; group < pass.groups(); ++group) {
      const std::uint64_t first = pass.first_row(problem_, group) * row;
      for (std::uint32_t to = 0; to < out_.calls; ++to) {
        for (std::uint32_t from = 0; from < in_.calls; ++from) {
          assembly_.add(gemm_.product(TileId(tile), shape_,
                                      {columns, out_.blocks, in_.blocks, from > 0}, steps,
                                      {weights, word(at)}, {x_[tile], word(first + from * leg)},
                                      {y_[tile], word(first + to * leg)}));
          at += std::uint64_t{out_.blocks} * in_.blocks * shape_.w_bytes();
        }
      }
    }
  }

  /// The twiddles of a pass by tile, in the order of the calls.
  std::vector<BufferId> add_weights(const RowPass& pass) {
    const std::uint32_t side = 2 * problem_.padded();
    const std::uint64_t bytes = std::uint64_t{pass.groups()} * side * side * shape_.input_bytes;
    const auto fill = [pass, problem = problem_, in = in_, out = out_, adjoint = adjoint_,
                       operands = assembly_.operands](std::uint32_t part, Interval groups,
                                                      std::span<std::byte> into) {
      const std::uint32_t stage = pass.stages.front();
      const std::uint32_t padded = problem.padded();
      std::size_t at = 0;
      const auto value = [&](std::uint32_t pair, std::uint32_t row, std::uint32_t column) {
        const std::uint32_t b = problem.block;
        if (row % padded >= b || column % padded >= b) return 0.0;
        const std::uint32_t i = row / padded * b + row % padded;
        const std::uint32_t j = column / padded * b + column % padded;
        return adjoint ? operands->twiddles.element(stage, pair, j, i)
                       : operands->twiddles.element(stage, pair, i, j);
      };
      for (std::uint64_t group = groups.begin; group < groups.end; ++group) {
        const std::uint32_t row = pass.first_row(problem, word(group));
        const std::uint32_t pair = problem.pair(stage, pass.rows.feature(part, row));
        for (std::uint32_t to = 0; to < out.calls; ++to)
          for (std::uint32_t from = 0; from < in.calls; ++from)
            for (std::uint32_t o = 0; o < out.blocks; ++o)
              for (std::uint32_t d = 0; d < in.blocks; ++d)
                for (std::uint32_t i = 0; i < in.features; ++i)
                  for (std::uint32_t j = 0; j < out.features; ++j)
                    data::store_element(problem.type(), into, at++,
                                        value(pair, out.feature(to, o, j), in.feature(from, d, i)));
      }
    };
    return assembly_.twiddles(pass, bytes, fill);
  }

  /// Outputs at a time to inputs at a time, from y to x.
  void add_regrouping(std::uint32_t tile) {
    const std::uint32_t wide = std::max(shape_.depth, shape_.columns);
    const std::uint32_t narrow = std::min(shape_.depth, shape_.columns);
    const std::uint64_t columns = geometry_.units(tile).size();
    const gemm::Vertices::Chunks chunks{columns, wide / narrow, narrow * shape_.input_bytes};
    const std::uint64_t step = columns * wide * shape_.input_bytes;
    for (std::uint64_t at = 0; at < geometry_.bytes(tile); at += step)
      assembly_.add(gemm_.regrouping(TileId(tile), chunks, shape_.columns > shape_.depth,
                                     {y_[tile], word(at)}, {x_[tile], word(at)}));
  }

  Assembly& assembly_;
  const Geometry& geometry_;
  const Problem& problem_;
  const kernels::BlockShape& shape_;
  Cut in_, out_;
  bool adjoint_;
  elf::KernelCode code_;
  gemm::Vertices gemm_;
  std::vector<BufferId> x_, y_;                  // by tile: where rows are, where a factor's go
  std::vector<std::vector<BufferId>> twiddles_;  // by pass
};

}  // namespace

void add_block_product(Assembly& assembly, std::uint32_t contexts) {
  BlockProduct(assembly, contexts).build();
}

}  // namespace tessera::butterfly
