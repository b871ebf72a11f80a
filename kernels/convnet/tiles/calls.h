#pragma once

#include "kernels/codelet.h"
#include "kernels/convnet/tiles/geometry.h"

/// Calls of this folder's tile code as functions of a description.
namespace tessera::convnet::tiles {

/// `code` (of this folder) outlives the description.
class Functions {
 public:
  Functions(const elf::KernelCode& code, plan::Description& description, std::uint32_t contexts)
      : code_(code),
        description_(description),
        program_(*description.code()),
        contexts_(contexts) {}

  using Function = plan::Function;
  using Operands = std::span<const program::Place>;

  // What is measured: samples of these sizes.
  /// Sizes: positions of the longest run, column blocks, steps, workers that have runs. Operands:
  /// lists, w, x, y.
  const Function& sums(const BlockShape& block);
  /// Sizes: lanes of four channels, rows, positions of a row. Operands: y, bias, results.
  const Function& results(const BlockShape& block);
  /// Of a layer without sums. Sizes: rows of all chunks, places of the window, pairs of 64-bit
  /// words of a row (maxima) or words (means). Operands: lists, x, results.
  const Function& pooling(const Geometry& g);

  // What is called, of a cell's part of a layer; the functions above were asked for before.
  [[nodiscard]] program::Vertex sums(const Geometry& g, const Cell& cell, Operands operands) const;
  [[nodiscard]] program::Vertex results(const Geometry& g, const Cell& cell,
                                        Operands operands) const;
  // Lists of offsets that calls go by.
  [[nodiscard]] static std::uint64_t list_bytes(const Geometry& g, const Cell& cell);
  static void fill_lists(const Geometry& g, const Cell& cell, std::span<std::byte> into);

  // Their sizes.
  [[nodiscard]] plan::Sizes sums_sizes(const Geometry& g, const Cell& cell) const;
  [[nodiscard]] static plan::Sizes results_sizes(const Geometry& g, const Cell& cell);
  [[nodiscard]] static plan::Sizes pooling_sizes(const Geometry& g, const Cell& cell);

 private:
  [[nodiscard]] kernels::Codelet codelet(std::string_view name) const {
    return {code_.in(program_, name), contexts_};
  }

  const elf::KernelCode& code_;
  plan::Description& description_;  ///< asked while it is stated only
  program::Program& program_;
  std::uint32_t contexts_;
};

}  // namespace tessera::convnet::tiles
