#include "kernels/butterfly/block_product.h"

#include <algorithm>

#include "sim/data/element.h"

namespace tessera::butterfly {

BlockProduct::BlockProduct(Assembly& assembly, std::uint32_t contexts)
    : assembly_(assembly),
      geometry_(assembly.geometry),
      problem_(geometry_.problem),
      shape_(problem_.shape),
      in_(problem_.padded(), shape_.depth),
      out_(problem_.padded(), shape_.columns),
      code_("gemm"),
      gemm_(code_, assembly.program, contexts) {}

void BlockProduct::begin_round() {
  if (in_place())
    sums_ = assembly_.empty_rows("x", false, shape_.partial_bytes / shape_.input_bytes);
  if (regroups() && packs()) packed_ = assembly_.empty_rows("x");
}

void BlockProduct::apply(const RowPass& pass, const std::vector<BufferId>& twiddles,
                         const std::vector<BufferId>& in, const std::vector<BufferId>& out) {
  for (std::uint32_t t = 0; t < assembly_.tiles; ++t)
    add_products(t, pass, twiddles[t], in[t], in_place() ? sums_[t] : out[t]);
  for (std::uint32_t t = 0; t < assembly_.tiles && in_place(); ++t) {
    const BufferId packed = regroups() ? packs() ? packed_[t] : sums_[t] : out[t];
    if (packs())
      assembly_.add(gemm_.packing(TileId(t),
                                  geometry_.bytes(t) / shape_.input_bytes * shape_.partial_bytes,
                                  {sums_[t]}, {packed}));
    if (regroups()) add_regrouping(t, packed, out[t]);
  }
}

void BlockProduct::add_products(std::uint32_t tile, const RowPass& pass, BufferId weights,
                                BufferId x, BufferId y) {
  const std::uint64_t columns = columns_of(tile);
  const std::uint64_t row = geometry_.units(tile).size() * problem_.unit_bytes();
  const std::uint64_t leg = row << pass.first_place(problem_);
  const std::uint64_t larger = shape_.partial_bytes / shape_.input_bytes;
  const gemm::Vertices::Steps steps{in_.calls == 1 ? leg : columns * shape_.x_bytes(),
                                    out_.calls == 1 ? larger * leg : columns * shape_.y_bytes()};
  std::uint64_t at = 0;
  for (std::uint32_t group = 0; group < pass.groups(); ++group) {
    const std::uint64_t first = pass.first_row(problem_, group) * row;
    for (std::uint32_t to = 0; to < out_.calls; ++to) {
      for (std::uint32_t from = 0; from < in_.calls; ++from) {
        assembly_.add(gemm_.product(TileId(tile), shape_,
                                    {columns, out_.blocks, in_.blocks, from > 0}, steps,
                                    {weights, word(at)}, {x, word(first + from * leg)},
                                    {y, word(larger * (first + to * leg))}));
        at += std::uint64_t{out_.blocks} * in_.blocks * shape_.w_bytes();
      }
    }
  }
}

/// In the order of the calls.
std::vector<BufferId> BlockProduct::twiddles(const RowPass& pass, bool adjoint) {
  const std::uint32_t side = 2 * problem_.padded();
  const std::uint64_t bytes = std::uint64_t{pass.groups()} * side * side * shape_.input_bytes;
  const auto fill = [pass, problem = problem_, in = in_, out = out_, adjoint,
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

/// Outputs at a time to inputs at a time.
void BlockProduct::add_regrouping(std::uint32_t tile, BufferId from, BufferId to) {
  const std::uint32_t wide = std::max(shape_.depth, shape_.columns);
  const std::uint32_t narrow = std::min(shape_.depth, shape_.columns);
  const std::uint64_t columns = columns_of(tile);
  const gemm::Vertices::Chunks chunks{columns, wide / narrow, narrow * shape_.input_bytes};
  const std::uint64_t step = columns * wide * shape_.input_bytes;
  for (std::uint64_t at = 0; at < geometry_.bytes(tile); at += step)
    assembly_.add(gemm_.regrouping(TileId(tile), chunks, shape_.columns > shape_.depth,
                                   {from, word(at)}, {to, word(at)}));
}

namespace {

/// Forward or grad_input, round after round.
class Rounds {
 public:
  Rounds(Assembly& assembly, std::uint32_t contexts)
      : assembly_(assembly), product_(assembly, contexts) {}

  void build() {
    const Geometry& geometry = assembly_.geometry;
    const bool adjoint = geometry.problem.pass == Pass::grad_input;
    const auto passes = schedule(geometry.problem, geometry.plan.split_features, 1, adjoint);
    std::vector<std::vector<BufferId>> twiddles;  // by pass
    assembly_.add_results();
    for (std::uint32_t round = 0; round < geometry.plan.rounds; ++round) {
      assembly_.begin_round(round);
      add_rows(passes);
      for (const RowPass& pass : passes)
        if (round == 0) twiddles.push_back(product_.twiddles(pass, adjoint));
      assembly_.add_inputs();
      for (std::size_t i = 0; i < passes.size(); ++i) {
        if (passes[i].before) assembly_.add_swap(*passes[i].before, x_);
        product_.apply(passes[i], twiddles[i], x_, product_.in_place() ? x_ : y_);
        if (!product_.in_place()) std::swap(x_, y_);
      }
      assembly_.finish_rows(x_, passes.back().rows);
    }
  }

 private:
  /// In layout planned the result is in the buffers that are first.
  void add_rows(const std::vector<RowPass>& passes) {
    const bool planned = assembly_.geometry.problem.layout == Layout::planned;
    const bool turns = planned && !product_.in_place() && passes.size() % 2 == 1;
    if (turns) y_ = assembly_.empty_rows("x", true);
    x_ = assembly_.given_rows(&Operands::x, "x", passes.front().rows, planned && !turns);
    if (!turns && !product_.in_place()) y_ = assembly_.empty_rows("x");
    product_.begin_round();
  }

  Assembly& assembly_;
  BlockProduct product_;
  std::vector<BufferId> x_, y_;  // by tile: where rows are, where a factor's go
};

}  // namespace

void add_block_product(Assembly& assembly, std::uint32_t contexts) {
  Rounds(assembly, contexts).build();
}

}  // namespace tessera::butterfly
