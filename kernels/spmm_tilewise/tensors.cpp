#include "kernels/sparse/tensors.h"

#include <algorithm>

#include "kernels/spmm_tilewise/spmm_tilewise.h"
#include "kernels/spmm_tilewise/steps.h"
#include "sim/data/element.h"

namespace tessera::spmm_tilewise {

namespace {

/// What is left of W[k, n], from element `first` on.
void fill_kept(const DenseWeights& w, const TilePattern& pattern, std::uint64_t first,
               program::Type type, std::span<std::byte> into) {
  const std::uint64_t end = first + into.size() / data::element_bytes(type);
  std::fill(into.begin(), into.end(), std::byte{});
  const auto keep = [&](std::uint64_t row, std::uint64_t column) {
    const std::uint64_t at = row * w.columns + column;
    if (at >= first && at < end)
      data::store_element(type, into, at - first, static_cast<double>(w.at(row, column)));
  };
  for (const ColumnTile& tile : pattern.tiles) {
    auto row = std::lower_bound(tile.rows.begin(), tile.rows.end(), first / w.columns);
    for (; row != tile.rows.end() && std::uint64_t{*row} * w.columns < end; ++row)
      for (const std::uint32_t column : tile.columns) keep(*row, column);
  }
  for (const Single& single : pattern.overlay) keep(single.row, single.column);
}

}  // namespace

void add_tensors(program::Program& program, const SpmmTilewise& work,
                 const std::vector<BufferId>& c) {
  const Problem& problem = work.problem_;
  const program::Type type = problem.block.input;
  const auto chunks = [storage = work.c_storage_, size = problem.block.input_bytes,
                       problem](std::size_t tile) -> sparse::Chunked {
    const std::uint64_t first = storage.begin(tile) / size;
    return {{first, first + storage.bytes_on(tile) / size},
            problem.panel_rows(),
            problem.n,
            {0, problem.m}};
  };
  std::vector<program::TensorPart> parts;
  for (std::uint32_t t = 0; t < c.size(); ++t)
    parts.push_back({{c[t]}, work.c_storage_.bytes_on(t)});
  program.add_tensor(sparse::tensor_of({"C", program::Role::result, type, problem.m, problem.n},
                                       std::move(parts), chunks));
  program.add_tensor(data::tensor_of("A", work.a_, type));
  program::Tensor w{"W", program::Role::weights, type, {problem.k, problem.n}};
  w.given = [&work, type](std::uint64_t first, std::span<std::byte> into) {
    fill_kept(work.w_, work.pattern_, first, type, into);
  };
  program.add_tensor(std::move(w));
}

}  // namespace tessera::spmm_tilewise
