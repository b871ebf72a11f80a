#include "kernels/sparse/code/relayout.h"

#include "kernels/spmm_dynamic/steps.h"

namespace tessera::spmm_dynamic {

using program::ComputeSet;
using program::Exchange;
using sparse::Direction;

void add_rows_in(Work& work) {
  const Shape& shape = work.shape();
  const bool turned = shape.x_depth() > 1;
  const sparse::Rows x{shape, row_storage(work.problem, work.grid(), work.problem.block_columns),
                       work.given_x};
  const sparse::Rows yg{shape, row_storage(work.problem, work.grid(), work.problem.block_rows),
                        work.given_y};
  Exchange exchange{"relayout x", {}};
  ComputeSet set{"relayout x", {}};
  for (const Cell& one : work.cells) {
    const sparse::Chunked part = work.x_part(one);
    sparse::rows_to_panels(exchange, x, part, turned ? one.x_panels : one.x_slice);
    if (shape.gradient) sparse::rows_to_panels(exchange, yg, work.yg_part(one), one.y_slice);
    if (turned && part.elements.size() > 0)
      sparse::add_transposition(work.assembly, set, shape, one.tile, part, {one.x_panels},
                                {one.x_slice}, Direction::to_blocks);
  }
  work.assembly.add_step(std::move(exchange), work.measured);
  if (turned) work.assembly.add_step(std::move(set), work.measured);
}

void add_rows_out(Work& work) {
  const Shape& shape = work.shape();
  const bool turned = shape.y_depth() > 1;
  const sparse::Rows wanted{shape, row_storage(work.problem, work.grid(), work.problem.block_rows),
                            work.results};
  Exchange exchange{"relayout y", {}};
  ComputeSet set{"relayout y", {}};
  for (const Cell& one : work.cells) {
    const sparse::Chunked part = work.y_part(one);
    if (turned && part.elements.size() > 0)
      sparse::add_transposition(work.assembly, set, shape, one.tile, part, {one.results},
                                {one.result_panels}, Direction::to_rows);
    sparse::panels_to_rows(exchange, wanted, part, turned ? one.result_panels : one.results);
  }
  if (turned) work.assembly.add_step(std::move(set), work.measured);
  work.assembly.add_step(std::move(exchange), work.measured);
}

}  // namespace tessera::spmm_dynamic
