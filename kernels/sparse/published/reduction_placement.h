#pragma once

#include <cstdint>
#include <vector>

#include "kernels/sparse/code/shape.h"

/// Placement of the sums of partial rows in the published library (poplibs lib/popops/reduction,
/// 2023): the library gets one sum for each block row and interval and plans each on its own. A sum
/// is made where its results are wanted or, if that looks slower, on as many tiles as get a few
/// words each, counted from a tile that depends only on the number of the sum; its results then
/// move to their tiles. With many concurrent sums some tiles therefore get more than others.
namespace tessera::sparse::published {

struct ReductionPlacement {
  std::uint32_t tiles;
  std::uint64_t bytes_per_cycle;  ///< rate of the exchange
  std::uint64_t sync_cycles;

  /// A sum of `partials` operands of `elements` elements each; one tile wants at most `most_wanted`
  /// of them.
  struct Sum {
    std::uint64_t elements;
    std::uint64_t partials;
    std::uint64_t most_wanted;
  };
  [[nodiscard]] bool at_home(const Shape& shape, const Sum& sum) const;

  /// A tile's part of a spread sum: elements [begin, end).
  struct Piece {
    std::uint32_t tile;
    std::uint64_t begin;
    std::uint64_t end;
  };
  [[nodiscard]] std::vector<Piece> spread(const Shape& shape, std::uint64_t elements,
                                          std::uint64_t number) const;
};

}  // namespace tessera::sparse::published
