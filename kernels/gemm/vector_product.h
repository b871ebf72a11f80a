#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "kernels/gemm/core_product.h"
#include "kernels/gemm/vector_operand.h"
#include "sim/config/fields.h"
#include "sim/config/writers.h"
#include "sim/plan/search.h"
#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

/// Products of types with vectors: cut into tiles of C, each of which a core computes step by step.
/// On an array of cores with memory tiles and DDR (array_plan.h), or on tiles that exchange with
/// each other.
namespace tessera::gemm {

/// As a config pins it, 0 is left to the search.
struct VectorPlan {
  std::uint32_t rows = 0;  ///< rows of a core's tile of C
  std::uint32_t columns = 0;
  std::uint32_t depth = 0;  ///< depth of a step
  // On arrays alone. Cores of a row work on the same rows of C, those of a column on the same
  // columns:
  std::uint32_t array_rows = 0;  ///< cores that work
  std::uint32_t array_columns = 0;
  std::uint32_t list_rows = 0;  ///< blocks of rows of C between two lists of the host's
  /// Sums are kept whole from step to step, else rounded to results.
  bool whole_sums = true;
  // On tiles that exchange with each other alone:
  std::uint32_t depth_parts = 0;  ///< parts of the depth on as many tiles, whose sums are added up

  [[nodiscard]] CoreTile tile() const { return {rows, columns, depth}; }
  bool operator==(const VectorPlan&) const = default;
};
/// `unused_with`: a key of plans for other types that stand beside, where nothing reads these; they
/// are refused then.
void describe(config::Fields& fields, VectorPlan& plan, std::string_view unused_with = {});

/// A plan of a product whose B has kept blocks alone: sums are kept whole.
struct KeptPlan {
  VectorPlan plan;
};
void describe(config::Fields& fields, KeptPlan& plan, std::string_view unused_with = {});

/// A plan for f16 and f32. Schemas and lists of keys show the keys of plans for types with vectors
/// too; beside `first`, a key of this plan, they are refused.
template <class Plan, class Vectors>
struct FloatPlan {
  Plan& plan;
  std::string_view first;
};
template <class Plan, class Vectors>
void describe(config::Fields& fields, const FloatPlan<Plan, Vectors>& tiles) {
  describe(fields, tiles.plan);
  Vectors vectors;
  describe(fields, vectors, tiles.first);
}

/// The option `shift` of such products; no `type`: it is none of theirs.
void describe_shift(config::Fields& fields, std::uint32_t& shift, const VectorType* type);

/// Null for f16 and f32. Throws KeyError if the machine makes no products of the type: arrays make
/// none of f16 and f32, other machines those that the unit has.
const VectorType* vector_type_on(const MachineConfig& machine, Type dtype);

/// The product in blocks: what all cores compute at a time, padded with zeros to whole ones.
struct VectorGrid {
  /// With `blocks`, kept by reference, B has these alone.
  VectorGrid(const Product& product, const VectorType& of, const VectorPlan& by,
             const KeptBlocks* blocks = nullptr);

  const VectorType* type;
  VectorPlan plan;
  Patch patch;
  std::uint32_t m, n, k;  ///< with padding
  std::uint32_t row_blocks, column_blocks;
  std::uint32_t parts, steps;             ///< parts of the depth, steps of a part
  std::shared_ptr<const KeptTiles> kept;  ///< kept blocks of B, if not all are

  /// The values that the product begins with and leaves in a step of a block.
  [[nodiscard]] Begins begins(std::uint32_t step) const {
    if (step == 0) return Begins::zeros;
    return plan.whole_sums ? Begins::sums : Begins::results;
  }
  [[nodiscard]] Ends ends(std::uint32_t step) const {
    return parts > 1 || (step + 1 < steps && plan.whole_sums) ? Ends::sums : Ends::results;
  }
  [[nodiscard]] bool keeps_sums() const { return parts > 1 || (plan.whole_sums && steps > 1); }
  [[nodiscard]] std::uint32_t all_steps() const { return parts * steps; }
  [[nodiscard]] std::uint64_t b_tile_bytes() const {
    return kept ? kept->block_bytes() + kept->list_bytes() : plan.tile().b_bytes(*type);
  }
  /// Bytes of a tile of B in a core of an array, with those that tile code reads behind it.
  [[nodiscard]] std::uint64_t b_buffer_bytes() const {
    return b_tile_bytes() + (kept ? 2 * kept_bytes(*type) : 0);
  }
  [[nodiscard]] std::uint64_t b_tiles() const {
    return std::uint64_t{n / plan.columns} * all_steps();
  }
  [[nodiscard]] std::uint64_t a_bytes() const { return std::uint64_t{m} * k * type->bytes; }
  [[nodiscard]] std::uint64_t b_bytes() const { return b_tiles() * b_tile_bytes(); }
  [[nodiscard]] std::uint64_t c_bytes() const { return std::uint64_t{m} * n * type->bytes; }
  /// Writes a tile of kept blocks, in the order in which they lie: column by column, step by step.
  void write_kept(std::uint32_t tile, std::span<std::byte> into) const {
    const std::uint32_t blocks = kept->block_bytes();
    kept->write_blocks(tile / steps, tile % steps, into.first(blocks));
    kept->write_lists(tile / steps, tile % steps, into.subspan(blocks));
  }
};

/// The operands' names for users. `transposed`: C is the transpose of the computed product.
struct ProductNames {
  const char* a = "A";
  const char* b = "B";
  const char* c = "C";
  bool transposed = false;
};

struct VectorProduct {
  Product product;
  VectorGrid grid;
  std::uint32_t shift;
  VectorOperand a;
  std::optional<VectorOperand> b;  ///< none: the grid's kept tiles
  ProductNames names = {};

  /// C, without where it lies.
  [[nodiscard]] program::Tensor result() const {
    program::Tensor c{names.c, program::Role::result, grid.type->type, {product.m, product.n}};
    if (names.transposed) std::swap(c.shape[0], c.shape[1]);
    return c;
  }
};

struct PricedProduct {
  VectorPlan plan;
  Prediction prediction;
  const char* binds = "";  ///< compute, DDR or exchange
};

/// Bytes of what a plan needs too much of, and that there are.
struct Room {
  const char* what = "";
  std::uint64_t needed = 0, there = 0;
};
/// The part of A that lists of kept blocks reach in a step.
inline Room lists_of(const VectorType& type, std::uint32_t depth) {
  return {"the lists of kept blocks", CoreTile{kept_patch(type).rows, 0, depth}.a_bytes(type),
          std::uint64_t{1} << 16};
}
/// The fastest plan, or what the first one that does not fit lacks, or that none does.
struct Searched {
  std::optional<PricedProduct> best;
  Room short_of;
  std::string misfit = {};
};
/// "16x16x32 i8".
std::string problem_text(const VectorType& type, const Product& product);

// On tiles that exchange with each other. A tile has one tile of C; its panels of A and its columns
// of B come step by step, one superstep each, multicast to all who need them. Workers of a tile
// share its patches. The depth may be parted among several tiles, which add up their sums at last,
// each of its share of C.

/// The search of vector_plan(): numbers of parts of m and n, and of steps.
Searched search_tiles(const VectorPlan& pinned, const Product& product, const VectorType& type,
                      MachineCosts& costs, const KeptBlocks* blocks);
/// A and B are held by all tiles evenly, in the order in which tile code reads them: A by panels of
/// a patch's rows, B by those of a patch's columns or, of kept blocks, by tiles. C stays where it
/// is made.
plan::Described describe_tiles(const VectorProduct& of, const MachineConfig& machine);

/// The fastest plan of those that have the sizes of `pinned` that are not 0. Throws KeyError for a
/// size that the type or machine lacks or that does not fit, UserError if no plan fits. `blocks`:
/// as VectorGrid.
PricedProduct vector_plan(const VectorPlan& pinned, const Product& product, const VectorType& type,
                          MachineCosts& costs, const KeptBlocks* blocks = nullptr);
/// Predicted cycles of the fastest plan of all of B; none if nothing fits.
std::optional<std::uint64_t> dense_cycles(const Product& product, const VectorType& type,
                                          MachineCosts& costs);

/// A plan with the keys that the machine reads.
config::Json printed(const VectorPlan& plan, const MachineConfig& machine, bool kept);

/// A row of an operand as numbers.
using RowReader = std::function<void(std::uint32_t row, std::span<float> into)>;

/// A workload of such a product. Its check compares C with plain loops, each element exact to the
/// bit: all rows, or 1 in 64 as compares_all() says.
class VectorWorkload : public Workload {
 public:
  /// `b` makes what reads all of B, where blocks alone are kept too. The summary lacks what follows
  /// from the product and its plan; `operations`: useful ones.
  VectorWorkload(VectorProduct product, const PricedProduct& chosen, const MachineConfig& machine,
                 std::function<RowReader()> b, std::uint64_t operations, WorkloadSummary summary);

  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override;

 private:
  [[nodiscard]] program::Program lowered() const override;

  VectorProduct product_;
  MachineConfig machine_;
  std::function<RowReader()> b_;
};

}  // namespace tessera::gemm
