#pragma once

#include <cstdint>
#include <vector>

#include "kernels/sparse/code/shape.h"

/// The published way to place the adding of partial rows (poplibs lib/popops/reduction, 2023): the
/// library is asked for one sum a block row and interval, and plans each as if it were alone. A sum
/// is made where its results are wanted or, if that looks slower, on as many tiles as get a few
/// words each, counted from a tile that depends on the number of the sum alone; its results then go
/// where they are wanted. Where many sums run together, some tiles so get more than others.
namespace tessera::sparse::published {

struct ReductionPlacement {
  std::uint32_t tiles;
  std::uint64_t bytes_per_cycle;  ///< rate of the exchange
  std::uint64_t sync_cycles;

  /// A sum of `partials` of so many elements each, of which one tile wants `most_wanted` at most.
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
