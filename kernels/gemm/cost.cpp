#include "kernels/gemm/cost.h"

#include <algorithm>

#include "kernels/gemm/panels.h"

namespace tessera::gemm {

namespace {

/// What the fullest tile holds of the operands when they are sent to where they are multiplied, and
/// on how many tiles they lie.
struct Operands {
  std::uint64_t x, w;
  std::uint32_t tiles;
};
Operands operands(const Geometry& geometry, std::uint32_t tiles) {
  if (!geometry.natural()) {
    const std::uint64_t x = geometry.x_bytes();
    const std::uint64_t w = geometry.w_bytes();
    return {stored_bytes(x, tiles), stored_bytes(w, tiles),
            std::max(stored_on(x, tiles), stored_on(w, tiles))};
  }
  const Panels x(geometry, Storage::Role::x, tiles);
  const Panels w(geometry, Storage::Role::w, tiles);
  return {x.bytes_on(0), w.bytes_on(0), std::max(x.holders(), w.holders())};
}

/// What one superstep brings to the fullest tile, or takes from one that holds nothing else.
ExchangeLoad input_load(const Geometry& geometry, const MachineConfig& machine, std::uint32_t cut) {
  const bool by_column = geometry.pairs_share_x();
  const std::uint32_t neighbours = by_column ? geometry.column_parts() : geometry.row_parts();
  const std::uint64_t x = geometry.x_bytes(kFullest, cut);
  const std::uint64_t w = geometry.w_bytes(kFullest, cut);
  const Operands held = operands(geometry, machine.tiles);
  ExchangeLoad load;
  load.tiles = std::max(geometry.tiles(), held.tiles);
  load.sent = std::min(x, held.x) + std::min(w, held.w);
  load.received = by_column ? w : x;
  // Of an odd number of neighbours some pairs are divided.
  (neighbours % 2 == 0 ? load.shared : load.received) += by_column ? x : w;
  return load;
}

/// Layout natural: the rows of A and B that are given become panels.
ExchangeLoad panel_load(const Geometry& geometry, const MachineConfig& machine) {
  const std::uint32_t tiles = machine.tiles;
  const std::uint64_t x = geometry.x_bytes();
  const std::uint64_t w = geometry.w_bytes();
  const Operands panels = operands(geometry, tiles);
  ExchangeLoad load;
  load.tiles = std::max({panels.tiles, stored_on(x, tiles), stored_on(w, tiles)});
  load.sent = stored_bytes(x, tiles) + stored_bytes(w, tiles);
  load.received = panels.x + panels.w;
  return load;
}

/// Layout natural: finished parts go to the rows of C.
ExchangeLoad result_load(const Geometry& geometry, const MachineConfig& machine) {
  const std::uint64_t bytes = geometry.result_bytes();
  return {geometry.result_bytes(kFullest), stored_bytes(bytes, machine.tiles), 0,
          std::max(geometry.tiles(), stored_on(bytes, machine.tiles))};
}

}  // namespace

void PlanCosts::add_product(const Geometry& geometry, std::uint32_t cut, std::uint64_t times,
                            Prediction& sum) {
  if (times == 0) return;
  const Vertices::Part part{geometry.rows(0).size(), geometry.column_blocks(0).size(),
                            geometry.depth_blocks(0, cut).size(), cut > 0};
  steps_.add(sum, {input_load(geometry, machine(), cut), product(geometry.block(), part)}, times);
}

/// Layout natural, before the product: rows of A and B to panels, and their regrouping.
void PlanCosts::add_panels(const Geometry& geometry, Prediction& sum) {
  std::uint64_t cycles = 0;
  for (const Storage::Role role : {Storage::Role::x, Storage::Role::w}) {
    for (const Panel& panel : Panels(geometry, role, machine().tiles).on_tile(0)) {
      cycles += regrouping({panel.rows, panel.chunks, panel.chunk_bytes}, true);
    }
  }
  steps_.add(sum, {panel_load(geometry, machine()), cycles});
}

/// What follows the product: in layout natural blocks of Y become rows and go to the rows of C;
/// where the depth is split, parts are exchanged and added up; f32 partials become f16.
void PlanCosts::add_partials(const Geometry& geometry, Prediction& sum) {
  const std::uint32_t parts = geometry.plan().split_k;
  const std::uint64_t share = geometry.y_share(kFullest).size();
  std::uint64_t last = geometry.converts() ? packing(share) : 0;
  if (geometry.natural()) {
    const Vertices::Chunks chunks{geometry.rows(0).size(), geometry.column_blocks(0).size(),
                                  geometry.block().y_bytes()};
    const std::uint64_t rows = regrouping(chunks, false);
    steps_.add(sum, {{}, rows + (parts > 1 ? 0 : last)});
  } else if (parts == 1) {
    sum.compute_cycles += last;  // in the compute set of the last product
    sum.cycles += last;
  }
  if (parts > 1) {
    last += adding(geometry.block().partial, share, parts - 1);
    const std::uint64_t received = share * (parts - 1);
    steps_.add(sum, {ExchangeLoad{received, received, 0, geometry.tiles()}, last});
  }
  if (geometry.natural()) steps_.add(sum, {result_load(geometry, machine()), 0});
}

Prediction PlanCosts::predict(const Geometry& geometry) {
  Prediction sum;
  const std::uint32_t cuts = geometry.plan().cuts;
  const auto longer = static_cast<std::uint32_t>(geometry.depth_blocks(0).size() % cuts);
  if (geometry.natural()) add_panels(geometry, sum);
  add_product(geometry, 0, 1, sum);
  add_product(geometry, 1, longer > 1 ? longer - 1 : 0, sum);
  add_product(geometry, cuts - 1, longer > 1 ? cuts - longer : cuts - 1, sum);
  add_partials(geometry, sum);
  return sum;
}

}  // namespace tessera::gemm
