#pragma once

#include "kernels/sparse/code/assembly.h"
#include "kernels/spmm_tilewise/storage.h"

/// The steps of a product. Tile code is gemm's, and for single elements that of sparse/code.
namespace tessera::spmm_tilewise {

using sparse::BufferId;
using sparse::Place;

/// What a program moves and computes: by job, and by tile of the machine.
struct Work {
  const Problem& problem;
  const Plan& plan;
  const TilePattern& pattern;
  const EvenStorage& a_storage;
  const WeightStorage& w_storage;
  const EvenStorage& c_storage;
  struct Buffers {
    std::vector<BufferId> x, a, y, result, overlay;
    std::vector<BufferId> a_stored, w_stored, c;
  } buffers = {};

  [[nodiscard]] const Group& group_of(const Job& job) const { return plan.groups[job.group]; }
};

/// Rows of A^T and weights of one superstep, in the last one also the overlay's rows.
program::Exchange inputs(const Work& work, std::uint32_t cut);

/// Columns of C go from their jobs to their places; neighbours go together.
program::Exchange scattered(const Work& work);

class SpmmTilewise;

/// Declares A, W, pruned, and C, which lies in buffers `c`, by tile.
void add_tensors(program::Program& program, const SpmmTilewise& work,
                 const std::vector<BufferId>& c);

/// Single elements times their rows of A^T in `panels` panels, added to what `result` holds, or
/// alone. The list says of each column its elements, then the place of each one's row in a panel.
struct OverlayBuffers {
  BufferId list, values, a, result;
};
std::string overlay_codelet(const Problem& problem, bool adds);
program::Vertex overlay_product(sparse::Assembly& assembly, const Problem& problem, TileId tile,
                                const OverlayPart& part, const OverlayWork& work,
                                std::uint64_t panels, bool adds, const OverlayBuffers& buffers);
std::vector<std::uint16_t> overlay_list(const Problem& problem, const OverlayPart& part);

}  // namespace tessera::spmm_tilewise
