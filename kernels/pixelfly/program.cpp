#include "kernels/pixelfly/plan.h"
#include "kernels/spmm_static/ends.h"
#include "kernels/spmm_static/product.h"

namespace tessera::pixelfly {

using spmm_static::DenseEnd;
using spmm_static::Partition;
using spmm_static::Product;
using BuffersOfTiles = std::vector<program::BufferId>;

program::Vertex scaling_of(sparse::Assembly& assembly, const Chain& chain, const Partition& outer,
                           const spmm_static::HeldValues& values) {
  const spmm_static::Deal& deal = outer.deal;
  const TileId tile = assembly.program().buffer(values.buffer).tile;
  const program::BufferId gamma =
      assembly.list(index(tile), std::vector{static_cast<float>(*chain.gamma)}, "gamma");
  return scaling(
      assembly, outer.shape.type, tile,
      {values.buffer, values.buffer, gamma,
       factor_runs(
           values.numbers, deal.blocks(), [&](std::uint64_t e) { return deal.value_begin[e]; },
           [&](std::uint64_t e) { return chain.factor(deal.column[e]); })});
}

program::Program build_chain(const ChainPlan& plan, const Chain& chain, const sparse::Shape& shape,
                             const data::DenseOperand& x, std::uint32_t contexts) {
  const Partition& outer = plan.outer.partition;
  const sparse::TileCode code;
  program::Program program(outer.tiles);
  sparse::Assembly assembly(code, program, contexts);
  const DenseEnd to{shape, outer.y_storage(), outer.columns, "y"};
  std::vector<BuffersOfTiles> y, z;  // by round
  for (std::uint32_t round = 0; round < plan.rounds; ++round)
    y.push_back(spmm_static::wanted(assembly, to));
  program.add_tensor(tensor_of(
      {chain.result, program::Role::result, shape.type, chain.outer.rows, x.columns()}, to, y));
  std::optional<Product> low_rank;
  if (plan.inner) {
    const Partition& inner = plan.inner->partition;
    const DenseEnd kept{inner.shape, inner.y_storage(), inner.columns, "z"};
    for (std::uint32_t round = 0; round < plan.rounds; ++round)
      z.push_back(spmm_static::wanted(assembly, kept));
    program.add_tensor(tensor_of(
        {chain.low_rank, program::Role::result, shape.type, chain.inner.rows, x.columns()}, kept,
        z));
    low_rank.emplace(assembly, inner, chain.inner, "low rank ");
  }
  Product sparse(assembly, outer, chain.outer);
  if (chain.gamma)
    sparse.change_values([&](const std::vector<spmm_static::HeldValues>& given) {
      program::ComputeSet set{"scale", {}};
      for (const spmm_static::HeldValues& values : given)
        set.vertices.push_back(scaling_of(assembly, chain, outer, values));
      assembly.add_step(std::move(set));
    });
  for (std::uint32_t round = 0; round < plan.rounds; ++round) {
    const BuffersOfTiles results = spmm_static::made(assembly, to, y[round]);
    const DenseEnd from{
        shape, outer.x_storage(), outer.columns, "x", true, std::uint64_t{round} * outer.columns};
    spmm_static::BuffersOfRows rows{spmm_static::given(assembly, from, x)};
    if (low_rank) {
      low_rank->add_steps(rows, z[round]);
      rows.push_back(z[round]);
    }
    sparse.add_steps(rows, results);
    spmm_static::add_rows_out(assembly, to, results, y[round]);
  }
  return program;
}

}  // namespace tessera::pixelfly
