#pragma once

#include <optional>

#include "kernels/sparse/code/relayout.h"
#include "sim/plan/step_costs.h"

namespace tessera::sparse {

/// What add_transposition() takes of a tile: that of its busiest worker, by runs and squares, whose
/// costs the machine is asked for. Leaves out: how workers that are done earlier speed up others.
class TranspositionCost {
 public:
  TranspositionCost(const Shape& shape, MachineCosts& costs);

  /// Cycles with the code that calls it; 0 of rows that need not be turned.
  [[nodiscard]] std::uint64_t operator()(const Chunked& part, Direction direction);

 private:
  struct Line {
    double once, run, square;
  };
  [[nodiscard]] Line measure() const;
  /// Of as many runs of so many squares for every worker.
  [[nodiscard]] std::uint64_t measure(std::uint64_t squares, std::uint32_t runs) const;

  Shape shape_;
  StepCosts steps_;
  std::uint32_t workers_;
  std::optional<Line> line_;
};

}  // namespace tessera::sparse
