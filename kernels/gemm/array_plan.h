#pragma once

#include <cstdint>
#include <string>

#include "kernels/arrays/array.h"
#include "kernels/gemm/core_product.h"
#include "sim/config/fields.h"
#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

/// How a product is cut for an array of cores with memory tiles and DDR.
namespace tessera::gemm {

/// Cores of a row work on the same rows of C, those of a column on the same columns. Each has a
/// tile of C, to which tiles of A and B come step by step.
struct ArrayPlan {
  std::uint32_t rows = 64;  ///< of a core's tile of C
  std::uint32_t columns = 64;
  std::uint32_t depth = 64;      ///< of a step
  std::uint32_t array_rows = 1;  ///< cores that work
  std::uint32_t array_columns = 1;
  std::uint32_t list_rows = 1;  ///< blocks of rows of C between two lists of the host's
  /// Sums are kept whole from step to step, else rounded to results.
  bool whole_sums = true;

  [[nodiscard]] CoreTile tile() const { return {rows, columns, depth}; }
  bool operator==(const ArrayPlan&) const = default;
};
void describe(config::Fields& fields, ArrayPlan& plan);

/// The product in blocks: what all cores compute at a time, padded with zeros to whole ones.
struct ArrayGrid {
  ArrayGrid(const Product& product, const VectorType& of, const ArrayPlan& by);

  const VectorType* type;
  ArrayPlan plan;
  std::uint32_t m, n, k;  ///< with padding
  std::uint32_t row_blocks, column_blocks, steps;

  [[nodiscard]] std::uint64_t a_bytes() const { return std::uint64_t{m} * k * type->bytes; }
  [[nodiscard]] std::uint64_t b_bytes() const { return std::uint64_t{k} * n * type->bytes; }
  [[nodiscard]] std::uint64_t c_bytes() const { return std::uint64_t{m} * n * type->bytes; }
};

/// Where a core's buffers lie.
struct CoreLayout {
  explicit CoreLayout(const ArrayGrid& grid);
  std::uint32_t a, b, c, sums, zeros, end;
  std::uint32_t a_slot, b_slot, c_slot;  ///< bytes from a buffer to the other
};

struct PricedArray {
  ArrayPlan plan;
  Prediction prediction;
  const char* binds = "";  ///< compute or DDR
};

/// The streams that it sends over.
arrays::Array array_of(const MachineConfig& machine, const VectorType& type);

/// The fastest plan by measured calls and the streams' rates. Throws UserError if none fits.
PricedArray choose_array_plan(const Product& product, const VectorType& type, MachineCosts& costs);
/// The one that is given. Throws KeyError if it does not fit.
PricedArray pinned_array_plan(const ArrayPlan& plan, const Product& product, const VectorType& type,
                              MachineCosts& costs);

}  // namespace tessera::gemm
