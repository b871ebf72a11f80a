#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/arrays/array.h"
#include "kernels/gemm/core_product.h"
#include "sim/config/fields.h"
#include "sim/plan/step_costs.h"
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

/// A plan of a product whose B has kept blocks alone: sums are kept whole.
struct KeptPlan {
  ArrayPlan plan;
};
void describe(config::Fields& fields, KeptPlan& plan, std::string_view unused_with = {});

/// The option `shift` of such products; no `type`: it is none of theirs.
void describe_shift(config::Fields& fields, std::uint32_t& shift, const VectorType* type);

/// Whether products of the type are made on arrays. Throws KeyError if the machine is not one, or
/// one for other types.
bool is_of_arrays(Type dtype, const MachineConfig& machine);

/// The product in blocks: what all cores compute at a time, padded with zeros to whole ones.
struct ArrayGrid {
  /// With `blocks`, kept by reference, B has these alone.
  ArrayGrid(const Product& product, const VectorType& of, const ArrayPlan& by,
            const KeptBlocks* blocks = nullptr);

  const VectorType* type;
  ArrayPlan plan;
  Patch patch;
  std::uint32_t m, n, k;  ///< with padding
  std::uint32_t row_blocks, column_blocks, steps;
  std::shared_ptr<const KeptTiles> kept;  ///< of B, if not all of it

  /// What the product of a step of a block begins with and leaves.
  [[nodiscard]] Begins begins(std::uint32_t step) const {
    if (step == 0) return Begins::zeros;
    return plan.whole_sums ? Begins::sums : Begins::results;
  }
  [[nodiscard]] Ends ends(std::uint32_t step) const {
    return step + 1 < steps && plan.whole_sums ? Ends::sums : Ends::results;
  }
  [[nodiscard]] std::uint32_t b_tile_bytes() const {
    return kept ? kept->bytes() : plan.tile().b_bytes(*type);
  }
  [[nodiscard]] std::uint32_t b_tiles() const { return n / plan.columns * steps; }
  [[nodiscard]] std::uint64_t a_bytes() const { return std::uint64_t{m} * k * type->bytes; }
  [[nodiscard]] std::uint64_t b_bytes() const { return std::uint64_t{b_tiles()} * b_tile_bytes(); }
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
/// not fit, UserError if no plan fits. `blocks`: as ArrayGrid.
PricedArray array_plan(const ArrayPlan& pinned, const Product& product, const VectorType& type,
                       MachineCosts& costs, const KeptBlocks* blocks = nullptr);
/// Predicted cycles of the fastest plan of all of B; none if nothing fits.
std::optional<std::uint64_t> dense_cycles(const Product& product, const VectorType& type,
                                          MachineCosts& costs);

/// Memory, and time by measured calls and the streams' rates, of plans of one product.
class ArrayPricer {
 public:
  /// `blocks`: as ArrayGrid.
  ArrayPricer(const Product& product, const VectorType& type, MachineCosts& costs,
              const KeptBlocks* blocks);

  [[nodiscard]] const arrays::Array& array() const { return array_; }
  /// Bytes of what a plan needs too much of, and that there are.
  struct Room {
    const char* what;
    std::uint64_t needed, there;
  };
  [[nodiscard]] std::optional<Room> too_large(const ArrayGrid& grid) const;
  /// The same before a grid is made: its tiles have so many kept blocks, at least, that DDR does
  /// not hold them.
  [[nodiscard]] std::optional<Room> too_many(const ArrayPlan& plan) const;
  /// None if it takes `below` cycles or more.
  [[nodiscard]] std::optional<PricedArray> price(const ArrayGrid& grid, std::uint64_t below);
  [[nodiscard]] ArrayGrid grid(const ArrayPlan& plan) const {
    return {product_, type_, plan, blocks_};
  }

 private:
  [[nodiscard]] std::uint64_t call(const CoreTile& tile, Begins begins, Ends ends,
                                   std::uint32_t pairs = 0);
  [[nodiscard]] std::uint64_t kept_call(const ArrayGrid& grid, Begins begins, Ends ends,
                                        std::uint64_t pairs);
  [[nodiscard]] std::uint64_t kept_compute(const ArrayGrid& grid);
  /// Of a block's steps: the first, each between, the last; with kept blocks all take what one does
  /// on average.
  [[nodiscard]] std::vector<std::uint64_t> calls(const ArrayGrid& grid);

  Product product_;
  VectorType type_;
  const KeptBlocks* blocks_;
  StepCosts steps_;
  MachineConfig machine_;
  arrays::Array array_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, Begins, Ends, std::uint32_t>,
           std::uint64_t>
      calls_;
};

}  // namespace tessera::gemm
