#pragma once

#include <map>
#include <memory>

#include "kernels/sparse/plan/traffic.h"
#include "kernels/spmm_static/reduction.h"
#include "sim/plan/fitted_cost.h"
#include "sim/plan/step_costs.h"
#include "sim/program/image.h"

/// Cycles and bytes of a product on a machine, which is asked what the tile code takes.
namespace tessera::spmm_static {

class Cost {
 public:
  /// `most_in_row`: nonzeros of the fullest row, where W has no blocks.
  Cost(const sparse::Shape& shape, std::uint64_t most_in_row, MachineCosts& costs);

  /// Of a tile: `blocks` blocks in `rows` block rows, evenly, times `width` columns.
  std::uint64_t product(std::uint64_t rows, std::uint64_t blocks, std::uint32_t width);
  /// Of a tile: `words` words of results of so many partials each.
  std::uint64_t adding(std::uint64_t words, std::uint64_t partials);

  /// What the program of this partition takes.
  Prediction predict(const Partition& partition);
  /// What making blocks of given rows adds to that, of X or of another operand of as many columns.
  void add_rows_in(Prediction& sum, const Partition& partition, const EvenStorage& storage);

  [[nodiscard]] const MachineConfig& machine() const { return costs_.machine(); }
  [[nodiscard]] const MachineCosts& costs() const { return costs_; }
  [[nodiscard]] const std::shared_ptr<const ElementWorks>& elements() const { return elements_; }
  /// Of the codelet that multiplies blocks.
  [[nodiscard]] std::uint64_t code_bytes() const {
    return shape_.in_blocks() ? code_.sparse.bytes("blocks_" + shape_.name()) : 0;
  }

 private:
  /// Of adding up: a tile once, a worker for each segment, and for chunks and units of so many
  /// partials.
  struct Adding {
    std::uint64_t once;
    WorkerCycles segment, chunk, unit;
  };
  std::uint64_t measure_blocks(const FittedCost::Sizes& sizes);
  std::uint64_t measure_elements(const FittedCost::Sizes& sizes);
  std::uint64_t measure_adding(const FittedCost::Sizes& sizes);
  ElementWork element_work(std::uint32_t words, std::uint64_t most_in_row);
  const Adding& adding(std::uint64_t partials);
  std::uint64_t product(const Part& part, const Share& share);
  std::uint64_t products(const Partition& partition);
  std::uint64_t additions(const Partition& partition, const Reduction& reduction);
  std::uint64_t turning(const Partition& partition, const EvenStorage& storage,
                        sparse::Direction direction);
  /// Of a vertex on a tile of its own.
  template <class Make>
  std::uint64_t vertex(const Make& make);

  const sparse::Shape shape_;
  MachineCosts& costs_;
  StepCosts steps_;
  sparse::TileCode code_;
  std::uint32_t workers_;
  FittedCost blocks_, rows_, adding_;
  /// Few rows and further blocks of some width, and what so many more of either take.
  struct BlockCost {
    std::int64_t few, rows, blocks;
  };
  std::map<std::uint32_t, BlockCost> by_width_;
  std::map<std::uint64_t, Adding> by_partials_;
  std::map<std::pair<sparse::Direction, std::uint64_t>, std::uint64_t> turning_;  ///< by bytes
  std::shared_ptr<const ElementWorks> elements_;
};

/// Bytes of a tile that a product holds from the beginning, and to the end, of a program: values of
/// W; lists.
struct Resident {
  std::uint64_t values, lists;
};
Resident resident(const Partition& partition);

/// What the fullest tile needs, about: tensors that live together, with `beside` bytes of others;
/// lists; code.
program::CategoryBytes tile_memory(const Partition& partition, std::uint64_t beside = 0);

}  // namespace tessera::spmm_static
