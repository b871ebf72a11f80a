#include "kernels/gemm/geometry.h"

namespace tessera::gemm {

namespace {

constexpr std::uint64_t kShareGrain = 16;  // bytes: the adding loop processes two 64-bit words

}  // namespace

Geometry::Geometry(const Problem& problem, const Plan& plan)
    : plan_(plan),
      layout_(problem.layout),
      block_(
          block_shape(problem.unit, problem.dtype, plan.partials, plan.unit, "workload.plan.unit")),
      roles_(gemm::roles(problem.product, plan.stationary)),
      row_split_{roles_.rows, turned() ? plan.split_n : plan.split_m},
      column_split_{ceil_div(roles_.columns, block_.columns),
                    turned() ? plan.split_m : plan.split_n},
      depth_split_{ceil_div(roles_.depth, block_.depth), plan.split_k} {}

Cell Geometry::cell(std::uint32_t tile) const {
  const std::uint32_t depth = tile / layer();
  const std::uint32_t rest = tile % layer();
  if (pairs_share_x()) return {rest / column_parts(), rest % column_parts(), depth};
  return {rest % row_parts(), rest / row_parts(), depth};
}

std::uint32_t Geometry::tile(const Cell& cell) const {
  const std::uint32_t within = pairs_share_x() ? cell.row * column_parts() + cell.column
                                               : cell.column * row_parts() + cell.row;
  return cell.depth * layer() + within;
}

Cell Geometry::cell_of(std::uint64_t row, std::uint64_t column_block) const {
  return {word(row_split_.holder(row)), word(column_split_.holder(column_block)), 0};
}

Interval Geometry::depth_blocks(std::uint32_t part, std::uint32_t cut) const {
  const Interval all = depth_blocks(part);
  const Interval mine = EvenSplit{all.size(), plan_.cuts}.part(cut);
  return {all.begin + mine.begin, all.begin + mine.end};
}

std::uint64_t Geometry::y_bytes(const Cell& cell) const {
  return column_blocks(cell.column).size() * rows(cell.row).size() * block_.y_bytes();
}

Interval Geometry::y_share(const Cell& cell) const {
  const Interval grains = EvenSplit{y_bytes(cell) / kShareGrain, plan_.split_k}.part(cell.depth);
  return {grains.begin * kShareGrain, grains.end * kShareGrain};
}

Geometry::YPlace Geometry::y_place(const Cell& cell, std::uint64_t index) const {
  const Interval its_rows = rows(cell.row);
  const Interval blocks = column_blocks(cell.column);
  const std::uint64_t first = blocks.begin * block_.columns;
  if (natural()) {
    const std::uint64_t columns = blocks.size() * block_.columns;
    return {its_rows.begin + index / columns, first + index % columns};
  }
  const std::uint64_t vector = index / block_.columns;
  return {its_rows.begin + vector % its_rows.size(),
          first + vector / its_rows.size() * block_.columns + index % block_.columns};
}

std::uint64_t Geometry::y_index(const Cell& cell, const YPlace& place) const {
  const Interval its_rows = rows(cell.row);
  const Interval blocks = column_blocks(cell.column);
  const std::uint64_t row = place.row - its_rows.begin;
  const std::uint64_t column = place.column - blocks.begin * block_.columns;
  if (natural()) return row * blocks.size() * block_.columns + column;
  return (column / block_.columns * its_rows.size() + row) * block_.columns +
         column % block_.columns;
}

std::uint64_t Geometry::adder(const Cell& cell, std::uint64_t index) const {
  const EvenSplit grains{y_bytes(cell) / kShareGrain, plan_.split_k};
  return grains.holder(index * block_.partial_bytes / kShareGrain);
}

std::uint64_t stored_bytes(std::uint64_t bytes, std::uint32_t tiles) {
  return round_up(ceil_div(bytes, std::uint64_t{tiles}), kStorageGrain);
}

}  // namespace tessera::gemm
