#pragma once

#include <map>

#include "kernels/gemm/vertex_costs.h"
#include "kernels/sparse/code/assembly.h"
#include "kernels/sparse/plan/transposition_cost.h"
#include "kernels/spmm_dynamic/cells.h"
#include "kernels/spmm_dynamic/plan.h"
#include "sim/plan/fitted_cost.h"
#include "sim/plan/step_costs.h"

/// What plans cost on one machine, which is asked what the tile code and the exchanges take. What
/// one plan has asked serves the next.
namespace tessera::spmm_dynamic {

class Cost {
 public:
  Cost(const Shape& shape, MachineCosts& costs);

  [[nodiscard]] const MachineConfig& machine() const { return costs_.machine(); }
  /// PoolShape::row_units of tiles with so many columns.
  double row_units(std::uint32_t columns);
  /// Cycles of one run of this load.
  Prediction predict(const Problem& problem, const PoolShape& pool, const Load& load);
  /// The same of a pattern: those tiles are asked that have most to do.
  Prediction predict(const Problem& problem, const PoolShape& pool, const sparse::BlockMatrix& w,
                     const Packing& packing);

 private:
  /// Of the products of a tile with so many columns: a line through what was measured.
  struct Line {
    double once, row, unit;
    double pace = 1;  ///< of a worker alone: its cycles over those while all work
  };
  std::uint64_t measure_product(const FittedCost::Sizes& sizes);
  std::uint64_t measure_lists(const PoolShape& pool, const Cell& at,
                              std::vector<std::uint16_t> lists, std::uint64_t x_bytes,
                              std::uint64_t y_bytes);
  std::uint64_t measure_own(const Problem& problem, const PoolShape& pool,
                            const sparse::BlockMatrix& w, const Packing& packing);
  std::uint64_t measure_test(std::uint64_t flags);
  const Line& line(std::uint32_t columns);
  [[nodiscard]] double even(const Portion& portion, const Line& of) const;
  [[nodiscard]] double busiest(const PoolShape& pool, const Portion& portion, const Line& of) const;
  std::uint64_t product(const PoolShape& pool, const Portion& portion);
  std::uint64_t turning(std::uint64_t words, std::uint32_t depth, std::uint32_t columns);
  template <class Make>
  std::uint64_t vertex(const Make& make);

  Prediction predict(const Problem& problem, const PoolShape& pool, const Load& load,
                     std::uint64_t own_cycles);
  void add_distribution(const Problem& problem, const PoolShape& pool, std::uint64_t own_cycles,
                        Prediction& sum);
  void add_test(const Grid& grid, std::uint64_t times, Prediction& sum);
  void add_propagation(const Buffers& bytes, const PoolShape& pool, const Load& load,
                       Prediction& sum);
  void add_sums(const Buffers& bytes, const Grid& grid, Prediction& sum);

  const Shape shape_;
  MachineCosts& costs_;
  StepCosts steps_;
  gemm::VertexCosts dense_;
  sparse::TileCode code_;
  std::uint32_t workers_;
  FittedCost products_, zeroing_;
  sparse::TranspositionCost turning_;
  std::map<std::uint32_t, Line> lines_;           ///< by columns
  std::map<std::uint64_t, std::uint64_t> tests_;  ///< by flags
};

}  // namespace tessera::spmm_dynamic
