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
  // As a config pins them, 0 is left to the search.
  std::uint32_t rows = 0;  ///< of a core's tile of C
  std::uint32_t columns = 0;
  std::uint32_t depth = 0;       ///< of a step
  std::uint32_t array_rows = 0;  ///< cores that work
  std::uint32_t array_columns = 0;
  std::uint32_t list_rows = 0;  ///< blocks of rows of C between two lists of the host's
  /// Sums are kept whole from step to step, else rounded to results.
  bool whole_sums = true;

  [[nodiscard]] CoreTile tile() const { return {rows, columns, depth}; }
  bool operator==(const ArrayPlan&) const = default;
};
/// `unused_with`: a key of plans for other machines that stand beside, where nothing reads these;
/// they are refused then.
void describe(config::Fields& fields, ArrayPlan& plan, std::string_view unused_with = {});

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

/// The fastest plan, by measured calls and the streams' rates, of those that have the sizes of
/// `pinned` that are not 0. Throws KeyError for a size that the type or array lacks or that does
/// not fit, UserError if no plan fits.
PricedArray array_plan(const ArrayPlan& pinned, const Product& product, const VectorType& type,
                       MachineCosts& costs);

}  // namespace tessera::gemm
