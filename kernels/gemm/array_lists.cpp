#include "kernels/gemm/array_lists.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "kernels/gemm/array_streams.h"

namespace tessera::gemm {
namespace {

using arrays::ArrayProgram;
using arrays::TransferId;

/// In which order nodes start transfers, wait for them and compute.
class ArrayLists {
 public:
  ArrayLists(const ArrayProduct& of, program::Program& program)
      : of_(of),
        grid_(of.grid),
        type_(*of.grid.type),
        lists_(program),
        streams_(of, program, lists_),
        product_(add_product_code(program, type_, grid_.kept != nullptr)) {}

  void build() {
    for (std::uint32_t node = 0; node < of_.array.nodes(); ++node) lists_.mark(node, "product");
    for (std::uint32_t row = 0; row < plan().array_rows; ++row)
      for (std::uint32_t column = 0; column < plan().array_columns; ++column) core(row, column);
    for (std::uint32_t column = 0; column < of_.array.columns; ++column) memory_tile(column);
    ddr();
    lists_.finish();
  }

 private:
  [[nodiscard]] const ArrayPlan& plan() const { return grid_.plan; }
  [[nodiscard]] bool begins_list(std::uint32_t block) const {
    return block % (plan().list_rows * grid_.column_blocks) == 0;
  }
  [[nodiscard]] bool ends_list(std::uint32_t block) const {
    return block + 1 == streams_.blocks() || begins_list(block + 1);
  }
  void core(std::uint32_t row, std::uint32_t column);
  void compute(std::uint32_t node, std::uint32_t step, std::uint32_t block);
  void memory_tile(std::uint32_t column);
  void ddr();
  [[nodiscard]] std::vector<const Chain*> chains_of(std::uint32_t memory) const;

  const ArrayProduct& of_;
  const ArrayGrid& grid_;
  const VectorType& type_;
  ArrayProgram lists_;
  ArrayStreams streams_;
  std::uint32_t product_;
};

void ArrayLists::core(std::uint32_t row, std::uint32_t column) {
  const std::uint32_t node = of_.array.core(row, column);
  const Chain* const chains[] = {&streams_.rows()[row], &streams_.columns()[column]};
  for (const Chain* const chain : chains) lists_.start(node, chain->sends[0]);
  std::optional<TransferId> leaving;
  for (std::uint32_t step = 0; step < streams_.all_steps(); ++step) {
    for (const Chain* const chain : chains) {
      lists_.wait(node, chain->sends[step]);
      if (step + 1 < streams_.all_steps()) lists_.start(node, chain->sends[step + 1]);
    }
    const std::uint32_t block = step / grid_.steps;
    compute(node, step, block);
    if ((step + 1) % grid_.steps != 0) continue;
    if (leaving) lists_.wait(node, *leaving);
    leaving = streams_.results(column)[block];
    lists_.start(node, *leaving);
  }
  lists_.wait(node, *leaving);
}

void ArrayLists::compute(std::uint32_t node, std::uint32_t step, std::uint32_t block) {
  const CoreLayout& layout = streams_.layout();
  const auto at = [&](std::uint32_t offset) { return streams_.in_core(node, offset); };
  const std::uint32_t k = step % grid_.steps;
  const bool last = k + 1 == grid_.steps;
  const bool whole_sums = plan().whole_sums;
  const CoreProduct product{&type_,
                            plan().tile(),
                            at(layout.a + step % 2 * layout.a_slot),
                            at(layout.b + step % 2 * layout.b_slot),
                            at(layout.c + block % 2 * layout.c_slot),
                            at(layout.sums),
                            at(layout.zeros),
                            of_.shift,
                            k == 0       ? Begins::zeros
                            : whole_sums ? Begins::sums
                                         : Begins::results,
                            last || !whole_sums ? Ends::results : Ends::sums,
                            grid_.kept ? std::optional(grid_.kept->lists()) : std::nullopt};
  lists_.call(node, "product", {product.vertex(node, product_)});
}

std::vector<const Chain*> ArrayLists::chains_of(std::uint32_t memory) const {
  std::vector<const Chain*> chains;
  for (const std::vector<Chain>* const all : {&streams_.rows(), &streams_.columns()})
    for (const Chain& chain : *all)
      if (chain.memory == memory) chains.push_back(&chain);
  return chains;
}

/// Step by step what has come is sent on when what was sent before has left, and the next step
/// asked for. Results of a block are stored in the step behind it, or at once where a list ends.
void ArrayLists::memory_tile(std::uint32_t column) {
  const std::uint32_t node = of_.array.memory(column);
  const std::vector<const Chain*> chains = chains_of(node);
  if (chains.empty()) return;
  const bool gathers = column < plan().array_columns;
  for (const Chain* const chain : chains) lists_.start(node, chain->loads[0]);
  std::optional<std::uint32_t> taken, storing;  // blocks
  const auto store = [&] {
    if (!taken) return;
    lists_.wait(node, streams_.results(column)[*taken]);
    if (storing) lists_.wait(node, streams_.stores()[column][*storing]);
    storing = taken;
    lists_.start(node, streams_.stores()[column][*storing]);
    taken.reset();
  };
  for (std::uint32_t step = 0; step < streams_.all_steps(); ++step) {
    for (const Chain* const chain : chains) {
      lists_.wait(node, chain->loads[step]);
      if (step > 0) lists_.wait(node, chain->sends[step - 1]);
      lists_.start(node, chain->sends[step]);
      if (step + 1 < streams_.all_steps()) lists_.start(node, chain->loads[step + 1]);
    }
    if (!gathers) continue;
    const std::uint32_t block = step / grid_.steps;
    if (step % grid_.steps == std::min(1U, grid_.steps - 1)) store();
    if ((step + 1) % grid_.steps != 0) continue;
    taken = block;
    lists_.start(node, streams_.results(column)[block]);
    if (ends_list(block)) store();
  }
  for (const Chain* const chain : chains) lists_.wait(node, chain->sends[streams_.all_steps() - 1]);
  if (gathers) lists_.wait(node, streams_.stores()[column][*storing]);
}

void ArrayLists::ddr() {
  const std::uint32_t node = of_.array.ddr;
  std::vector<const Chain*> chains;
  for (std::uint32_t memory = 0; memory < of_.array.columns; ++memory)
    for (const Chain* const chain : chains_of(of_.array.memory(memory))) chains.push_back(chain);
  std::optional<std::uint32_t> storing;  // block
  const auto wait_for_stores = [&] {
    if (!storing) return;
    for (const std::vector<TransferId>& stores : streams_.stores())
      lists_.wait(node, stores[*storing]);
    storing.reset();
  };
  for (std::uint32_t step = 0; step < streams_.all_steps(); ++step) {
    const std::uint32_t block = step / grid_.steps;
    const bool begins = step % grid_.steps == 0 && begins_list(block);
    if (begins) {
      wait_for_stores();
      lists_.start(node, streams_.list());
      lists_.wait(node, streams_.list());
    }
    const bool next = step + 1 < streams_.all_steps() &&
                      !((step + 1) % grid_.steps == 0 && begins_list(block + 1));
    for (const Chain* const chain : chains) {
      if (begins) lists_.start(node, chain->loads[step]);
    }
    for (const Chain* const chain : chains) {
      lists_.wait(node, chain->loads[step]);
      if (next) lists_.start(node, chain->loads[step + 1]);
    }
    if ((step + 1) % grid_.steps != 0) continue;
    wait_for_stores();
    storing = block;
    for (const std::vector<TransferId>& stores : streams_.stores())
      lists_.start(node, stores[block]);
  }
  wait_for_stores();
}

}  // namespace

program::Program make_array_program(const ArrayProduct& of) {
  program::Program program(of.array.nodes());
  ArrayLists(of, program).build();
  return program;
}

}  // namespace tessera::gemm
