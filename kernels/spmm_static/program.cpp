#include "kernels/spmm_static/ends.h"
#include "kernels/spmm_static/spmm_static.h"

namespace tessera::spmm_static {

program::Program build_program(const Partition& partition, const sparse::BlockMatrix& w,
                               const data::DenseOperand& x, std::uint32_t contexts, Region region) {
  const bool all = region == Region::all;
  const bool any = partition.deal.blocks() > 0;  // else zeros, which need no X
  const sparse::TileCode code;
  program::Program program(partition.tiles);
  Assembly assembly(code, program, contexts);
  const DenseEnd to{partition.shape, partition.y_storage(), partition.columns, "y", all};
  const std::vector<BufferId> y = wanted(assembly, to);
  const std::vector<BufferId> results = any ? made(assembly, to, y) : y;
  BuffersOfRows rows(1);
  const DenseEnd from{partition.shape, partition.x_storage(), partition.columns, "x", all};
  if (any) rows[0] = given(assembly, from, x);
  Product(assembly, partition, w, "", region).add_steps(rows, results);
  add_rows_out(assembly, to, results, y);
  const Type type = partition.shape.type;
  program.add_tensor(tensor_of({"Y", program::Role::result, type, w.rows, x.columns()}, to, {y}));
  program.add_tensor(data::tensor_of("X", x, type));
  sparse::add_given(program, {"W", program::Role::weights, type}, w);
  return program;
}

}  // namespace tessera::spmm_static
