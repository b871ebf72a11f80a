#include "kernels/spmm_static/program.h"

namespace tessera::spmm_static {

Described describe_program(const Partition& partition, const sparse::BlockMatrix& w,
                           const data::DenseOperand* x, const sparse::TileCode& code,
                           std::uint32_t contexts, Region region) {
  const bool any = partition.deal.blocks() > 0;  // else zeros, which need no X
  Described program(partition.tiles);
  const Statement statement{program.description, code, contexts};
  const DenseEnd from{partition.shape, partition.x_storage(), partition.columns, "x"};
  const DenseEnd to{partition.shape, partition.y_storage(), partition.columns, "y"};
  program.description.measure(region == Region::all);
  const BufferId y = wanted(statement, to);
  const BufferId results = any ? made(statement, to, y) : y;
  std::vector<BufferId> rows;
  if (any) rows.push_back(given(statement, from, x));
  for (std::size_t i = 1; i < partition.x.size(); ++i)
    rows.push_back(statement.stored(partition.x[i].storage, "rows made before"));
  program.description.measure(true);
  Product product(statement, partition, w, "", region);
  product.add_steps(rows, results);
  program.description.measure(region == Region::all);
  add_rows_out(statement, to, results, y);
  program.tiles = product.representatives();
  if (x == nullptr) return program;
  const Type type = partition.shape.type;
  add_tensor(statement, {"Y", program::Role::result, type, w.rows, x->columns()}, to, y);
  program.description.tensor(data::tensor_of("X", *x, type));
  sparse::add_given(program.description, {"W", program::Role::weights, type}, w);
  return program;
}

}  // namespace tessera::spmm_static
