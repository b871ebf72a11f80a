#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "kernels/butterfly/program.h"
#include "kernels/butterfly/storage.h"
#include "kernels/butterfly/vertices.h"
#include "kernels/sample.h"

namespace tessera::butterfly {

/// A program while it is put together: of all tiles, or, without operands, of tile 0 alone.
class Assembly {
 public:
  Assembly(const Assembly&) = delete;
  Assembly& operator=(const Assembly&) = delete;
  using Contents = std::function<void(std::span<std::byte>)>;
  using Values = data::DenseOperand Operands::*;
  /// Writes the twiddles of some groups of a pass for a part of the features.
  using Groups = std::function<void(std::uint32_t part, Interval groups, std::span<std::byte>)>;

  Assembly(const Geometry& of, const MachineConfig& machine, const Operands* given)
      : geometry(of),
        operands(given),
        tiles(given == nullptr ? 1 : of.tiles()),
        program(given == nullptr ? 1 : machine.tiles),
        machine_tiles_(machine.tiles),
        code_("butterfly"),
        vertices(code_, program, geometry.problem, machine.tile.contexts, of.plan.workers_n) {}

  /// Steps are those of a round from here on.
  void begin_round(std::uint32_t number) { geometry.number = number; }

  BufferId add_buffer(std::uint32_t tile, std::uint64_t bytes, std::string_view name,
                      bool keep = false, Contents contents = {}) {
    // What is given before the run lies there from the start, in a sample too.
    if (operands == nullptr && contents) contents = [](std::span<std::byte>) {};
    return program.add_buffer(
        {TileId(tile), bytes, 8, keep, program::Category::tensors, std::move(contents), name});
  }
  /// Buffers for the rows of a tile, undefined, `times` as large.
  std::vector<BufferId> empty_rows(std::string_view name, bool keep = false,
                                   std::uint32_t times = 1);
  /// Rows of `values` as they lie in `rows`; in layout blocked the next inputs bring them.
  std::vector<BufferId> given_rows(Values values, std::string_view name, const Rows& rows,
                                   bool keep);
  /// Twiddles of a pass, so many bytes a tile: on every tile, or brought by the next inputs.
  std::vector<BufferId> twiddles(const RowPass& pass, std::uint64_t bytes, const Groups& fill);
  std::vector<BufferId> twiddles(const RowPass& pass, bool adjoint);
  /// The exchange that brings what was given and is not there yet.
  void add_inputs();
  /// Buffers of finished rows, the first of the program; none in layout planned.
  void add_results();
  /// Brings the round's finished rows there.
  void finish_rows(const std::vector<BufferId>& buffers, const Rows& rows);

  void add(program::Vertex vertex) { set_.vertices.push_back(std::move(vertex)); }
  /// An exchange, after all vertices that were added before it.
  void add(program::Exchange exchange);
  /// Tiles swap rows of `buffers` (by tile), in place.
  void add_swap(const Swap& swap, const std::vector<BufferId>& buffers);

  /// The program; `exchanges` of a sample alone.
  kernels::Sample take();

  Geometry geometry;  ///< of the round
  const Operands* operands;
  const std::uint32_t tiles;
  program::Program program;

 private:
  std::uint32_t machine_tiles_;
  elf::KernelCode code_;

 public:
  Vertices vertices;

 private:
  /// What one tile gives and takes of what is brought to or from where it is stored.
  using Moved = kernels::SampleExchange;

  [[nodiscard]] bool sample() const { return operands == nullptr; }
  [[nodiscard]] bool blocked() const { return geometry.problem.layout == Layout::blocked; }
  [[nodiscard]] std::vector<BufferId> stored(
      const kernels::EvenStorage& storage, std::uint64_t each, std::string_view name,
      const std::function<void(std::uint64_t first, std::span<std::byte>)>& fill);
  /// Bytes of stored rows on the fullest tile in any round.
  [[nodiscard]] std::uint64_t row_bytes() const;
  [[nodiscard]] Moved moved_rows(const StoredRows& rows, std::size_t lines) const;
  void add(program::Exchange exchange, const Moved& moved);
  void end_set();

  program::ComputeSet set_{"factors", {}};
  program::Exchange inputs_{"inputs", {}};
  Moved moved_in_{};               ///< by them
  std::vector<BufferId> results_;  ///< by round and tile of the machine
  std::vector<Moved> exchanges_;
};

/// Adds the steps of factors whose twiddles are blocks.
void add_block_product(Assembly& assembly, std::uint32_t contexts);

/// Adds those of pass grad_twiddles.
void add_gradient(Assembly& assembly, std::uint32_t contexts);

}  // namespace tessera::butterfly
