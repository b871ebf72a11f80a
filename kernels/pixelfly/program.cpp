#include "kernels/pixelfly/plan.h"

namespace tessera::pixelfly {

using program::BufferId;
using spmm_static::DenseEnd;
using spmm_static::Partition;
using spmm_static::Product;
using spmm_static::Statement;

namespace {

/// States that the values of the outer product are multiplied in place by their factors.
void scale(const Statement& statement, const Chain& chain, const Partition& outer,
           BufferId values) {
  const Scaling scaling(statement, outer.shape.type, *chain.gamma,
                        [&chain, &outer, given = values_given(outer)](plan::Tile tile) {
                          const spmm_static::Deal& deal = outer.deal;
                          return factor_runs(
                              given[tile], deal.blocks(),
                              [&](std::uint64_t e) { return deal.value_begin[e]; },
                              [&](std::uint64_t e) { return chain.factor(deal.column[e]); });
                        });
  statement.description.compute("scale", outer.tiles,
                                [scaling, values](plan::Tile tile, plan::Calls& calls) {
                                  scaling.add(calls, tile, values, values);
                                });
}

}  // namespace

plan::Described describe_chain(const ChainPlan& plan, const Chain& chain,
                               const sparse::Shape& shape, const data::DenseOperand* x,
                               const sparse::TileCode& code, std::uint32_t contexts) {
  const Partition& outer = plan.outer.partition;
  plan::Described program(outer.tiles);
  const Statement statement{program.description, code, contexts};
  const auto results = [&](const char* tensor, const char* name, const Partition& of,
                           std::uint32_t rows) {
    std::vector<BufferId> made;
    for (std::uint32_t round = 0; round < plan.rounds; ++round) {
      const DenseEnd end{of.shape, of.y_storage(), of.columns, name,
                         std::uint64_t{round} * of.columns};
      made.push_back(wanted(statement, end));
      if (x != nullptr)
        add_tensor(statement, {tensor, program::Role::result, shape.type, rows, x->columns()}, end,
                   made.back());
    }
    return made;
  };
  const std::vector<BufferId> y = results(chain.result, "y", outer, chain.outer.rows);
  std::vector<BufferId> z;
  std::optional<Product> low_rank;
  if (plan.inner) {
    z = results(chain.low_rank, "z", plan.inner->partition, chain.inner.rows);
    low_rank.emplace(statement, plan.inner->partition, chain.inner, "low rank ");
  }
  Product sparse(statement, outer, chain.outer);
  if (chain.gamma)
    sparse.change_values([&](BufferId values) { scale(statement, chain, outer, values); });
  const DenseEnd to{shape, outer.y_storage(), outer.columns, "y"};
  for (std::uint32_t round = 0; round < plan.rounds; ++round) {
    const BufferId made = spmm_static::made(statement, to, y[round]);
    const DenseEnd from{shape, outer.x_storage(), outer.columns, "x",
                        std::uint64_t{round} * outer.columns};
    std::vector<BufferId> rows{given(statement, from, x)};
    if (low_rank) {
      low_rank->add_steps(rows, z[round]);
      rows.push_back(z[round]);
    }
    sparse.add_steps(rows, made);
    add_rows_out(statement, to, made, y[round]);
  }
  program.tiles = sparse.representatives();
  if (low_rank) program.add(low_rank->representatives());
  return program;
}

}  // namespace tessera::pixelfly
