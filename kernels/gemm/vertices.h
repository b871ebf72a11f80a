#pragma once

#include <string>

#include "kernels/codelet.h"
#include "kernels/gemm/shape.h"
#include "sim/plan/pricing.h"

namespace tessera::gemm {

/// Calls of this folder's tile code on one tile: what programs are built of, and the samples that
/// costs are measured on.
class Vertices {
 public:
  using BufferId = program::BufferId;
  using Place = program::Place;
  using Vertex = program::Vertex;

  /// Codelets are added to `program`, which outlives it and its copies, as does `code`.
  Vertices(const elf::KernelCode& code, program::Program& program, std::uint32_t contexts)
      : code_(code), program_(program), contexts_(contexts) {}

  static constexpr std::uint64_t kPair = 16;  ///< bytes that adding and packing take at once

  /// A product of one superstep.
  struct Part {
    std::uint64_t rows;
    std::uint64_t columns;  ///< blocks
    std::uint64_t depth;    ///< blocks
    bool adds;              ///< to what Y holds
  };
  [[nodiscard]] Vertex product(const BlockShape& block, const Part& part, BufferId w, BufferId x,
                               BufferId y) const;
  /// The same with depth blocks of X and column blocks of Y this many bytes apart.
  struct Steps {
    std::uint64_t x, y;
  };
  [[nodiscard]] Vertex product(const BlockShape& block, const Part& part, const Steps& steps,
                               Place w, Place x, Place y) const;

  /// sum = first + `arrays` further ones of `bytes` each, one behind the other.
  [[nodiscard]] Vertex adding(Type type, std::uint64_t bytes, std::uint32_t arrays, Place first,
                              Place further, Place sum) const;
  /// `bytes` of f32 partials to f16.
  [[nodiscard]] Vertex packing(std::uint64_t bytes, Place partials, Place result) const;

  /// A matrix of rows x chunks.
  struct Chunks {
    std::uint64_t rows, chunks;
    std::uint32_t bytes;  ///< of a chunk
  };
  /// To chunks x rows, or back.
  [[nodiscard]] Vertex regrouping(const Chunks& chunks, bool to_blocks, Place source,
                                  Place destination) const;

 private:
  [[nodiscard]] kernels::Codelet codelet(const std::string& name) const {
    return {code_.in(program_, name), contexts_};
  }

  const elf::KernelCode& code_;
  program::Program& program_;
  std::uint32_t contexts_;
};

/// The same calls as functions of a description. `code` outlives the description.
class Functions {
 public:
  Functions(const elf::KernelCode& code, plan::Description& description, std::uint32_t contexts)
      : description_(description),
        contexts_(contexts),
        vertices_(code, *description.code(), contexts) {}

  /// Sizes: rows, column blocks, depth blocks. Operands: w, x, y.
  const plan::Function& product(const BlockShape& block, bool adds);
  /// Sizes: pairs of words (kPair), further arrays. Operands: first, further, sum.
  const plan::Function& adding(Type type);
  /// Sizes: pairs of words of f32. Operands: partials, result.
  const plan::Function& packing();
  /// Sizes: rows, chunks. Operands: source, destination.
  const plan::Function& regrouping(std::uint32_t chunk_bytes, bool to_blocks);

 private:
  plan::Description& description_;
  std::uint32_t contexts_;
  Vertices vertices_;
};

/// Cycles that one run more of `rows` positions past a block takes a tile at least; `product` is
/// that function of `description`.
std::uint64_t least_run(plan::Pricing& pricing, const plan::Description& description,
                        const plan::Function& product, std::uint64_t rows);

}  // namespace tessera::gemm
