#include "kernels/pixelfly/pixelfly.h"
#include "kernels/spmm_static/ends.h"
#include "kernels/spmm_static/product.h"

namespace tessera::pixelfly {

using spmm_static::DenseEnd;
using spmm_static::Partition;
using spmm_static::Product;
using BuffersOfTiles = std::vector<program::BufferId>;

program::Program Pixelfly::build() const {
  const Partition& outer = plan_.outer.partition;
  const sparse::TileCode code;
  program::Program program(outer.tiles);
  sparse::Assembly assembly(code, program, contexts_);
  const DenseEnd to{shape_, outer.y_storage(), outer.columns, "y"};
  const BuffersOfTiles y = spmm_static::wanted(assembly, to, chain_.outer.rows, options_.n);
  BuffersOfTiles z;
  if (plan_.inner) {
    const Partition& inner = plan_.inner->partition;
    const DenseEnd kept{inner.shape, inner.y_storage(), inner.columns, "z"};
    z = spmm_static::wanted(assembly, kept, chain_.inner.rows, options_.n);
  }
  const BuffersOfTiles results = spmm_static::made(assembly, to, y);
  const DenseEnd from{shape_, outer.x_storage(), outer.columns, "x"};
  spmm_static::BuffersOfRows x{spmm_static::given(assembly, from, x_)};
  if (plan_.inner) {
    Product(assembly, plan_.inner->partition, chain_.inner, "low rank ").add_steps(x, z);
    x.push_back(std::move(z));
  }
  Product(assembly, outer, chain_.outer).add_steps(x, results);
  spmm_static::add_rows_out(assembly, to, results, y);
  return program;
}

}  // namespace tessera::pixelfly
