#pragma once

#include <map>
#include <optional>

#include "kernels/gemm/vertices.h"
#include "kernels/sparse/code/statement.h"
#include "kernels/spmm_dynamic/plan.h"
#include "kernels/spmm_dynamic/program.h"
#include "sim/plan/pricing.h"
#include "sim/plan/search.h"

/// Cost of grids on one machine, read from the program that they describe. Answers are cached
/// across grids.
namespace tessera::spmm_dynamic {

/// "pool_blocks_16_f16_16x16": the codelet of products of this shape.
std::string product_codelet(const Shape& shape);

/// Buffers of a tile that a product uses.
struct PoolPlaces {
  BufferId pool, x, y, flags;
};
/// A cell's product with a pool that has `meta` bytes of lists.
program::Vertex product(sparse::Codelet code, const PoolShape& pool, std::uint32_t meta,
                        const Cell& cell, const PoolPlaces& places);

/// Clears `words` 64-bit words (the size) of the operand.
const plan::Function& zeroing(const sparse::Statement& steps);

/// Cycles of products on one machine, by the portion of a pattern that a tile computes. Sub-groups
/// of a few sizes are measured; other sizes are interpolated linearly.
class ProductTimes {
 public:
  /// `code` is that of sparse/code; it and `pricing` must outlive this.
  ProductTimes(const Shape& shape, const elf::KernelCode& code, plan::Pricing& pricing);

  /// PoolShape::row_units of tiles with `columns` columns.
  double row_units(std::uint32_t columns);
  std::uint64_t operator()(const PoolShape& pool, const Portion& portion);

 private:
  struct Line {
    double once, row, unit;
    double pace = 1;  ///< a worker's cycles alone over its cycles while all work
  };
  const Line& line(std::uint32_t columns);
  double measured(std::uint64_t busy, std::uint64_t rows, std::uint64_t units,
                  std::uint32_t columns);
  [[nodiscard]] double even(const Portion& portion, const Line& of) const;
  [[nodiscard]] double busiest(const PoolShape& pool, const Portion& portion, const Line& of) const;

  const Shape shape_;
  plan::Pricing& pricing_;
  std::uint32_t workers_;
  plan::Description shell_{1};  ///< has no steps; owns the function
  const plan::Function& function_;
  std::map<std::uint32_t, Line> lines_;  ///< by columns
};

class Pricer {
 public:
  Pricer(const Shape& shape, MachineCosts& costs);

  [[nodiscard]] const MachineConfig& machine() const { return pricing_.machine(); }
  [[nodiscard]] plan::Pricing& pricing() { return pricing_; }

  /// A grid's pools; nothing if 16-bit offsets cannot address everything.
  std::optional<PoolShape> pool(const Problem& problem, const Grid& grid);
  plan::Described describe(const Problem& problem, const PoolShape& pool, const Load& load,
                           std::uint64_t further_cycles = 0);
  /// Lower bound on predict(): cycles of the fullest tile's products and of its receives.
  std::uint64_t bound(const Problem& problem, const PoolShape& pool, const Load& load);
  /// Cycles of the exchange of buckets and rows of X (of Yg).
  [[nodiscard]] std::uint64_t operand_cycles(const Buffers& bytes, const Grid& grid) const;
  /// Cycles of one run with this load.
  Prediction predict(const Problem& problem, const PoolShape& pool, const Load& load);
  /// Cycles of one run with a pattern: the products of the busiest tiles of each step are run, and
  /// exchanges are scheduled. Throws UserError if it does not fit.
  Prediction predict(const Problem& problem, const PoolShape& pool, const sparse::BlockMatrix& w,
                     const Packing& packing);
  /// Bytes on the fullest tile after placement.
  std::uint64_t bytes(const Problem& problem, const PoolShape& pool, const Load& load);

 private:
  [[nodiscard]] DataTimes decided(const PoolShape& pool, const Load& load);
  [[nodiscard]] DataTimes decided(const Parts& parts, const sparse::BlockMatrix& w,
                                  const Packing& packing);
  plan::Described describe(const Parts& parts, const DataTimes& decided);
  std::uint64_t product_cycles(const Parts& parts, std::uint32_t partition,
                               const std::vector<std::byte>& pool);

  sparse::TileCode code_;
  plan::Pricing pricing_;
  ProductTimes products_;
  plan::Description shell_{1};  ///< without steps: it owns the functions for bounds
  const plan::Function& zeroing_;
  gemm::Functions dense_;
};

}  // namespace tessera::spmm_dynamic
