#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "kernels/butterfly/program.h"
#include "kernels/butterfly/vertices.h"

namespace tessera::butterfly {

/// A program while it is put together: of all tiles, or, without operands, of tile 0 alone.
class Assembly {
 public:
  Assembly(const Assembly&) = delete;
  Assembly& operator=(const Assembly&) = delete;
  using Contents = std::function<void(std::span<std::byte>)>;

  Assembly(const Geometry& geometry, const MachineConfig& machine, const Operands* operands)
      : geometry(geometry),
        operands(operands),
        tiles(operands == nullptr ? 1 : geometry.tiles()),
        program(operands == nullptr ? 1 : machine.tiles),
        code_("butterfly"),
        vertices(code_, program, this->geometry.problem, machine.tile.contexts,
                 geometry.plan.workers_n) {}

  BufferId add_buffer(std::uint32_t tile, std::uint64_t bytes, std::string_view name,
                      bool keep = false, Contents contents = {}) {
    // What is given before the run lies there from the start, in a sample too.
    if (operands == nullptr && contents) contents = [](std::span<std::byte>) {};
    return program.add_buffer({TileId(tile), static_cast<std::uint32_t>(bytes), 8, keep,
                               program::Category::tensors, std::move(contents), name});
  }
  using Values = data::DenseOperand Operands::*;
  /// A tile's rows of `values` (null: undefined ones) as they lie in `rows`.
  BufferId add_rows(std::uint32_t tile, std::string_view name, bool keep, Values values,
                    const Rows& rows);
  BufferId add_twiddles(std::uint32_t tile, const RowPass& pass, bool adjoint);

  void add(program::Vertex vertex) { set_.vertices.push_back(std::move(vertex)); }
  /// An exchange, after all vertices that were added before it.
  void add(program::Exchange exchange);
  /// Tiles swap rows of `buffers` (by tile), in place.
  void add_swap(const Swap& swap, const std::vector<BufferId>& buffers);
  program::Program take();

  const Geometry geometry;
  const Operands* operands;
  const std::uint32_t tiles;
  program::Program program;

 private:
  elf::KernelCode code_;

 public:
  Vertices vertices;

 private:
  void end_set();

  program::ComputeSet set_{"factors", {}};
};

/// The program of factors whose twiddles are blocks.
program::Program build_block_product(Assembly& assembly, std::uint32_t contexts);

/// The program of pass grad_twiddles.
program::Program build_gradient(Assembly& assembly, std::uint32_t contexts);

}  // namespace tessera::butterfly
