#pragma once

#include <map>

#include "kernels/sparse/code/statement.h"
#include "kernels/spmm_dynamic/plan.h"
#include "sim/plan/pricing.h"

/// The tile code that computes what is for a tile in a pool of buckets: its calls, and their times.
namespace tessera::spmm_dynamic {

/// "pool_blocks_16_f16_16x16": the codelet of products of this shape.
std::string product_codelet(const Shape& shape);

/// Where a tile has what a product takes.
struct PoolPlaces {
  program::BufferId pool, x, y, flags;
};
/// What is for a cell in a pool of `meta` bytes of lists.
program::Vertex product(std::uint32_t codelet, const PoolShape& pool, std::uint32_t meta,
                        const Cell& cell, const PoolPlaces& places);

/// Clears `words` 64-bit words (the size) of the operand.
const plan::Function& zeroing(const sparse::Statement& steps);

/// What products take on one machine, by the portion of a pattern that a tile computes. Sub-groups
/// of few sizes are measured; what lies between is on a line through them.
class ProductTimes {
 public:
  /// `code` is that of sparse/code and outlives it, as does `pricing`.
  ProductTimes(const Shape& shape, const elf::KernelCode& code, plan::Pricing& pricing);

  /// PoolShape::row_units of tiles with so many columns.
  double row_units(std::uint32_t columns);
  std::uint64_t operator()(const PoolShape& pool, const Portion& portion);

 private:
  struct Line {
    double once, row, unit;
    double pace = 1;  ///< of a worker alone: its cycles over those while all work
  };
  const Line& line(std::uint32_t columns);
  double measured(std::uint64_t busy, std::uint64_t rows, std::uint64_t units,
                  std::uint32_t columns);
  [[nodiscard]] double even(const Portion& portion, const Line& of) const;
  [[nodiscard]] double busiest(const PoolShape& pool, const Portion& portion, const Line& of) const;

  const Shape shape_;
  plan::Pricing& pricing_;
  std::uint32_t workers_;
  plan::Description shell_{1};  ///< of no steps: it keeps the function
  const plan::Function& function_;
  std::map<std::uint32_t, Line> lines_;  ///< by columns
};

}  // namespace tessera::spmm_dynamic
