#pragma once

#include "kernels/sparse/code/assembly.h"
#include "kernels/spmm_static/reduction.h"

/// The steps of every product, in their order.
namespace tessera::spmm_static {

using sparse::Assembly;
using sparse::BufferId;
using sparse::Place;

/// What a tile multiplies.
struct ProductBuffers {
  BufferId values, x, list, partials;
};
/// The blocks of `rows` block rows times `width` columns.
program::Vertex block_product(Assembly& assembly, const sparse::Shape& shape, TileId tile,
                              const ProductBuffers& buffers, std::uint32_t rows,
                              std::uint32_t width);

/// A worker's rows and passes, and what lies before them in the list and in the values.
struct ElementPart {
  std::uint32_t list, values;  ///< u16, elements
  WorkerShare share;
};
/// Single elements times passes of `words` words of a row of `width` columns.
program::Vertex element_product(Assembly& assembly, const sparse::Shape& shape, TileId tile,
                                const ProductBuffers& buffers, std::uint32_t width,
                                std::uint32_t words, const std::vector<ElementPart>& workers);

/// Adding up what workers' segments say.
program::Vertex adding_vertex(Assembly& assembly, const sparse::Shape& shape, TileId tile,
                              Place received, Place results,
                              const std::vector<ReducingWorker>& workers);

/// What a tile holds while it multiplies.
struct TileBuffers {
  BufferId x;
  BufferId values;
  BufferId partials;
};
using TilesOfParts = std::vector<std::vector<TileBuffers>>;  ///< by part and share

using BuffersOfRows = std::vector<std::vector<BufferId>>;  ///< as Partition::x, by tile

/// Who needs the rows of a block, and where among the blocks in that buffer.
struct Taker {
  BufferId buffer;
  std::uint32_t place;
};
using Takers = std::vector<std::vector<Taker>>;  ///< by block of rows
/// The columns of `part` of the rows of X that `from` says where to find, in `x`, to who takes
/// them.
void add_dense_rows(program::Exchange& exchange, const Partition& partition, const Part& part,
                    const std::vector<DenseRows>& from, const BuffersOfRows& x,
                    const Takers& takers);

/// Rows of X to the tiles whose blocks name them, and values of W where several tiles take the
/// same; `x` and `values` are those parts that all tiles are given, by tile.
program::Exchange inputs(const Partition& partition, const BuffersOfRows& x,
                         const std::vector<BufferId>& values, const TilesOfParts& tiles);

/// Each tile's blocks times its rows of X: partial rows.
program::ComputeSet multiplied(Assembly& assembly, const Partition& partition,
                               const TilesOfParts& tiles);

/// Partial rows to the tiles that add them up, into `received`, by destination.
program::Exchange partials_sent(const Partition& partition, const Reduction& reduction,
                                const TilesOfParts& tiles, const std::vector<BufferId>& received);

/// Results of every destination out of the partials that it received, zeros where there are none:
/// into `results`, by tile, or `sums`, by destination, where they are not made where they are
/// wanted.
program::ComputeSet added(Assembly& assembly, const Partition& partition,
                          const Reduction& reduction, const std::vector<BufferId>& received,
                          const std::vector<BufferId>& results, const std::vector<BufferId>& sums);

/// Those sums to their places in `results`.
program::Exchange sums_sent(const Partition& partition, const Reduction& reduction,
                            const std::vector<BufferId>& sums,
                            const std::vector<BufferId>& results);

/// Partial rows to their places in `results`, by tile, where no two meet; rows without blocks come
/// out of `zeros`, by destination, as long as the longest of them.
program::Exchange results_sent(const Partition& partition, const Reduction& reduction,
                               const TilesOfParts& tiles, const std::vector<BufferId>& results,
                               const std::vector<BufferId>& zeros);

}  // namespace tessera::spmm_static
