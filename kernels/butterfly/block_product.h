#pragma once

#include <vector>

#include "kernels/butterfly/assembly.h"
#include "kernels/gemm/vertices.h"

/// Factors whose twiddles are blocks. Every pair of blocks is a dense product on the code of gemm:
/// columns of X are its rows, which pass by the 2 x 2 blocks of a twiddle. Rows of blocks lie
/// [inputs at a time][column][input].
namespace tessera::butterfly {

class BlockProduct {
 public:
  BlockProduct(Assembly& assembly, std::uint32_t contexts);

  /// The twiddles of a pass by tile, of F or F^H.
  std::vector<BufferId> twiddles(const RowPass& pass, bool adjoint);
  /// Buffers that apply() needs in a round.
  void begin_round();
  /// `in` and `out` by tile, the same only if in_place().
  void apply(const RowPass& pass, const std::vector<BufferId>& twiddles,
             const std::vector<BufferId>& in, const std::vector<BufferId>& out);
  /// Whether sums lie elsewhere first: they become inputs by packing, or by regrouping.
  [[nodiscard]] bool in_place() const { return packs() || regroups(); }

 private:
  /// How the product of a pair of blocks is cut: where a block is one block of the matrix unit,
  /// those of both legs are as far apart as the legs, and one call takes them; else each leg has a
  /// call of its own.
  struct Cut {
    std::uint32_t calls;     ///< 1 or 2
    std::uint32_t blocks;    ///< of the matrix unit, in a call
    std::uint32_t features;  ///< of one of them

    Cut(std::uint32_t padded, std::uint32_t of_one)
        : calls(padded == of_one ? 1 : 2), blocks(2 * padded / of_one / calls), features(of_one) {}
    /// The feature, counted over both legs with padding, of feature `i` of block `b` of a call.
    [[nodiscard]] std::uint32_t feature(std::uint32_t call, std::uint32_t b,
                                        std::uint32_t i) const {
      return (call * blocks + b) * features + i;
    }
  };

  [[nodiscard]] bool packs() const { return shape_.partial_bytes > shape_.input_bytes; }
  [[nodiscard]] bool regroups() const { return shape_.depth != shape_.columns; }
  [[nodiscard]] std::uint64_t columns_of(std::uint32_t tile) const {
    return geometry_.units(tile).size() * problem_.unit_columns();
  }
  void add_products(std::uint32_t tile, const RowPass& pass, BufferId weights, BufferId x,
                    BufferId y);
  void add_regrouping(std::uint32_t tile, BufferId from, BufferId to);

  Assembly& assembly_;
  const Geometry& geometry_;
  const Problem& problem_;
  const kernels::BlockShape& shape_;
  Cut in_, out_;
  elf::KernelCode code_;
  gemm::Vertices gemm_;
  std::vector<BufferId> sums_, packed_;  ///< by tile
};

}  // namespace tessera::butterfly
