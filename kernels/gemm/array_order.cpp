#include <algorithm>

#include "kernels/gemm/array_plan.h"

namespace tessera::gemm {
namespace {

using arrays::Channel;
using arrays::Items;

void start(Channel channel, Items& items) { items.push_back({arrays::Item::Kind::start, channel}); }
void wait(Channel channel, Items& items) { items.push_back({arrays::Item::Kind::wait, channel}); }

}  // namespace

ArrayOrder::ArrayOrder(const VectorGrid& grid, const arrays::Array& array)
    : grid_(grid),
      array_(array),
      kinds_(std::max(array.rows, array.columns)),
      chains_(array.columns) {
  for (std::uint32_t row = 0; row < grid.plan.array_rows; ++row)
    chains_[column_of(row)].push_back({channel(Kind::load_a, row), channel(Kind::send_a, row)});
  for (std::uint32_t column = 0; column < grid.plan.array_columns; ++column)
    chains_[column].push_back({channel(Kind::load_b, column), channel(Kind::send_b, column)});
}

void ArrayOrder::add(arrays::Timeline& timeline) const {
  const std::uint32_t rows = grid_.plan.array_rows;
  const std::uint32_t columns = grid_.plan.array_columns;
  const std::uint64_t a_bytes = grid_.plan.tile().a_bytes(*grid_.type);
  const std::uint64_t b_bytes = grid_.b_tile_bytes();
  const std::uint64_t c_bytes = grid_.plan.tile().c_bytes(*grid_.type);
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::uint32_t memory = array_.memory(column_of(row));
    std::vector<std::uint32_t> cores;
    for (std::uint32_t column = 0; column < columns; ++column)
      cores.push_back(array_.core(row, column));
    timeline.add(channel(Kind::load_a, row),
                 {{arrays::kLoadWeights, a_bytes, array_.ddr, {memory}}});
    timeline.add(channel(Kind::send_a, row), {{arrays::kWeights, a_bytes, memory, cores}});
  }
  for (std::uint32_t column = 0; column < columns; ++column) {
    const std::uint32_t memory = array_.memory(column);
    std::vector<std::uint32_t> cores;
    std::vector<arrays::Flow> results;
    for (std::uint32_t row = 0; row < rows; ++row) {
      cores.push_back(array_.core(row, column));
      results.push_back({arrays::kResults, c_bytes, cores.back(), {memory}});
    }
    timeline.add(channel(Kind::load_b, column), {{arrays::kLoad, b_bytes, array_.ddr, {memory}}});
    timeline.add(channel(Kind::send_b, column), {{arrays::kActivations, b_bytes, memory, cores}});
    timeline.add(channel(Kind::results, column), results);
    timeline.add(channel(Kind::store, column),
                 {{arrays::kStore, rows * c_bytes, memory, {array_.ddr}}});
  }
  timeline.add_own(channel(Kind::list, 0), array_.ddr);
}

void ArrayOrder::add(std::uint32_t node, std::uint32_t step, Items& items) const {
  if (node == array_.ddr) return add_ddr(step, items);
  if (node >= array_.first_memory) return add_memory(node - array_.first_memory, step, items);
  const std::uint32_t row = node / array_.columns;
  const std::uint32_t column = node % array_.columns;
  if (row < grid_.plan.array_rows && column < grid_.plan.array_columns)
    add_core(row, column, step, items);
}

void ArrayOrder::add_core(std::uint32_t row, std::uint32_t column, std::uint32_t step,
                          Items& items) const {
  const Channel operands[] = {channel(Kind::send_a, row), channel(Kind::send_b, column)};
  const Channel results = channel(Kind::results, column);
  if (step == 0)
    for (const Channel operand : operands) start(operand, items);
  for (const Channel operand : operands) {
    wait(operand, items);
    if (step + 1 < steps()) start(operand, items);
  }
  items.push_back({arrays::Item::Kind::work});
  if (!last(step)) return;
  if (step >= grid_.steps) wait(results, items);
  start(results, items);
  if (step + 1 == steps()) wait(results, items);
}

/// Forwards a step once it has arrived and the previous one is sent, and starts loading the next;
/// if DDR needs another list for it, after the results. Results of a block are stored during the
/// next block, or at once at the end of a list.
void ArrayOrder::add_memory(std::uint32_t column, std::uint32_t step, Items& items) const {
  const std::vector<Chain>& chains = chains_[column];
  const std::uint32_t block = step / grid_.steps;
  const bool list_ends = last(step) && ends_list(block);
  if (step == 0)
    for (const Chain& chain : chains) start(chain.load, items);
  for (const Chain& chain : chains) {
    wait(chain.load, items);
    if (step > 0) wait(chain.send, items);
    start(chain.send, items);
    if (step + 1 < steps() && !list_ends) start(chain.load, items);
  }
  const bool gathers = column < grid_.plan.array_columns;
  if (gathers && step % grid_.steps == std::min(1U, grid_.steps - 1) && block > 0 &&
      !ends_list(block - 1))
    store(column, block - 1, items);
  if (gathers && last(step)) {
    start(channel(Kind::results, column), items);
    if (list_ends) store(column, block, items);
  }
  if (step + 1 < steps()) {
    for (const Chain& chain : chains)
      if (list_ends) start(chain.load, items);
    return;
  }
  for (const Chain& chain : chains) wait(chain.send, items);
  if (gathers) wait(channel(Kind::store, column), items);
}

void ArrayOrder::store(std::uint32_t column, std::uint32_t block, Items& items) const {
  const Channel stored = channel(Kind::store, column);
  wait(channel(Kind::results, column), items);
  if (block > 0) wait(stored, items);
  start(stored, items);
}

void ArrayOrder::add_ddr(std::uint32_t step, Items& items) const {
  const std::uint32_t block = step / grid_.steps;
  const bool begins = step % grid_.steps == 0 && begins_list(block);
  if (begins) {
    if (block > 0) wait_for_stores(items);
    start(channel(Kind::list, 0), items);
    wait(channel(Kind::list, 0), items);
    for (const std::vector<Chain>& chains : chains_)
      for (const Chain& chain : chains) start(chain.load, items);
  }
  for (const std::vector<Chain>& chains : chains_)
    for (const Chain& chain : chains) {
      wait(chain.load, items);
      if (!last(step) || !ends_list(block)) start(chain.load, items);
    }
  if (!last(step)) return;
  if (!begins_list(block)) wait_for_stores(items);
  for (std::uint32_t column = 0; column < grid_.plan.array_columns; ++column)
    start(channel(Kind::store, column), items);
  if (step + 1 == steps()) wait_for_stores(items);
}

void ArrayOrder::wait_for_stores(Items& items) const {
  for (std::uint32_t column = 0; column < grid_.plan.array_columns; ++column)
    wait(channel(Kind::store, column), items);
}

}  // namespace tessera::gemm
