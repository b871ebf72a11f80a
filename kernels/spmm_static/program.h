#pragma once

#include "kernels/spmm_static/ends.h"
#include "kernels/spmm_static/product.h"
#include "sim/plan/search.h"

namespace tessera::spmm_static {

/// A described program and the tiles that stand for all others.
struct Described {
  plan::Description description;
  std::vector<Tile> tiles;

  void add(const std::vector<Tile>& more) {
    for (const Tile tile : more)
      if (std::ranges::find(tiles, tile) == tiles.end()) tiles.push_back(tile);
  }
};
/// The space of plans that `describe` describes, which have one variant each if no `variants` are
/// given.
plan::Space space_of(
    std::vector<std::uint64_t> bounds,
    const std::function<Described(std::size_t option, std::uint32_t variant)>& describe);

/// X in, the product, Y out. Without `x` it is good for estimates alone. All arguments outlive it.
Described describe_program(const Partition& partition, const sparse::BlockMatrix& w,
                           const data::DenseOperand* x, const sparse::TileCode& code,
                           std::uint32_t contexts, Region region = Region::all);
/// The same with X, the values of W and Y in memory outside: of each part of the rows of W, which
/// has a partition, the values are brought once, and X and Y come and go in rounds of columns.
/// `whole` is all of W.
Described describe_rounds(std::span<const Partition> partitions,
                          std::span<const sparse::BlockMatrix> parts,
                          const sparse::BlockMatrix& whole, const data::DenseOperand* x,
                          const sparse::TileCode& code, std::uint32_t contexts);

}  // namespace tessera::spmm_static
