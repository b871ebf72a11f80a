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

/// Products of vector types, partitioned into tiles of C, each of which a core computes step by
/// step: on an array of cores with memory tiles and DDR (array_plan.h), or on tiles with an
/// exchange.
namespace tessera::gemm {

/// A plan as pinned in a config; 0: searched.
struct VectorPlan {
  std::uint32_t rows = 0;  ///< rows of a core's tile of C
  std::uint32_t columns = 0;
  std::uint32_t depth = 0;  ///< depth of a step
  // Arrays only. Cores of a row share rows of C, those of a column share columns of C:
  std::uint32_t array_rows = 0;  ///< cores that are used
  std::uint32_t array_columns = 0;
  std::uint32_t list_rows = 0;  ///< blocks of rows of C per descriptor list of the host
  /// True: sums are kept whole between steps; false: they are rounded to results.
  bool whole_sums = true;
  // Tiles with an exchange only:
  std::uint32_t depth_parts = 0;  ///< parts of the depth, on as many tiles

  [[nodiscard]] CoreTile tile() const { return {rows, columns, depth}; }
  bool operator==(const VectorPlan&) const = default;
};
/// `unused_with`: a key of other types' plans beside which these keys would be unused and are
/// therefore refused.
void describe(config::Fields& fields, VectorPlan& plan, std::string_view unused_with = {});

/// A plan of a product whose B has kept blocks: sums are kept whole.
struct KeptPlan {
  VectorPlan plan;
};
void describe(config::Fields& fields, KeptPlan& plan, std::string_view unused_with = {});

/// A plan for f16 and f32. Schemas and lists of keys also show the keys of plans for vector types;
/// beside `first`, a key of this plan, those are refused.
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

/// The option `shift` of products of vector types; `type` null: products of other types, which do
/// not use it.
void describe_shift(config::Fields& fields, std::uint32_t& shift, const VectorType* type);

/// Null for f16 and f32. Throws KeyError if the machine has no products of the type: arrays do not
/// support f16 and f32, other machines support their unit's types.
const VectorType* vector_type_on(const MachineConfig& machine, Type dtype);

/// The product in blocks: the part that all cores compute at a time, padded with zeros to whole
/// blocks.
struct VectorGrid {
  /// With `blocks` (a reference is kept), B has only these blocks.
  VectorGrid(const Product& product, const VectorType& of, const VectorPlan& by,
             const KeptBlocks* blocks = nullptr);

  const VectorType* type;
  VectorPlan plan;
  Patch patch;
  std::uint32_t m, n, k;  ///< with padding
  std::uint32_t row_blocks, column_blocks;
  std::uint32_t parts, steps;             ///< parts of the depth, steps of a part
  std::shared_ptr<const KeptTiles> kept;  ///< kept blocks of B; null: B is dense

  /// Initial and final values of the product in a step of a block.
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
  /// Bytes of a tile of B in a core of an array, including those that tile code reads after it.
  [[nodiscard]] std::uint64_t b_buffer_bytes() const {
    return b_tile_bytes() + (kept ? 2 * kept_bytes(*type) : 0);
  }
  [[nodiscard]] std::uint64_t b_tiles() const {
    return std::uint64_t{n / plan.columns} * all_steps();
  }
  [[nodiscard]] std::uint64_t a_bytes() const { return std::uint64_t{m} * k * type->bytes; }
  [[nodiscard]] std::uint64_t b_bytes() const { return b_tiles() * b_tile_bytes(); }
  [[nodiscard]] std::uint64_t c_bytes() const { return std::uint64_t{m} * n * type->bytes; }
  /// Writes a tile of kept blocks, numbered by column, then by step.
  void write_kept(std::uint32_t tile, std::span<std::byte> into) const {
    const std::uint32_t blocks = kept->block_bytes();
    kept->write_blocks(tile / steps, tile % steps, into.first(blocks));
    kept->write_lists(tile / steps, tile % steps, into.subspan(blocks));
  }
};

/// Tensor names for users. `transposed`: C is the transpose of the computed product.
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

  /// The tensor C without its parts.
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

/// The resource that a plan exceeds: bytes needed and available.
struct Room {
  const char* what = "";
  std::uint64_t needed = 0, there = 0;
};
/// The part of A that lists of kept blocks can address in a step.
inline Room lists_of(const VectorType& type, std::uint32_t depth) {
  return {"the lists of kept blocks", CoreTile{kept_patch(type).rows, 0, depth}.a_bytes(type),
          std::uint64_t{1} << 16};
}
/// The fastest plan, or the resource that the first misfit exceeds, or the fact that none fits.
struct Searched {
  std::optional<PricedProduct> best;
  Room short_of;
  std::string misfit = {};
};
/// "16x16x32 i8".
std::string problem_text(const VectorType& type, const Product& product);

// On tiles with an exchange. A tile has one tile of C; its panels of A and its columns of B arrive
// step by step, one superstep each, multicast to all tiles that need them. Workers of a tile share
// its patches. The depth may be divided among several tiles, which finally add their sums, each for
// its share of C.

/// Search of vector_plan() on tiles: numbers of parts of m and n, and of steps.
Searched search_tiles(const VectorPlan& pinned, const Product& product, const VectorType& type,
                      MachineCosts& costs, const KeptBlocks* blocks);
/// A and B are stored evenly on all tiles, in the order that tile code reads: A in panels of a
/// patch's rows, B in panels of a patch's columns or, with kept blocks, in tiles. C stays where it
/// is computed.
plan::Described describe_tiles(const VectorProduct& of, const MachineConfig& machine);

/// The fastest plan with the sizes given in `pinned` (not 0). Throws KeyError for a size that the
/// type or machine does not support or that does not fit, UserError if no plan fits. `blocks`: as
/// in VectorGrid.
PricedProduct vector_plan(const VectorPlan& pinned, const Product& product, const VectorType& type,
                          MachineCosts& costs, const KeptBlocks* blocks = nullptr);
/// Predicted cycles of the fastest plan with all of B; none if nothing fits.
std::optional<std::uint64_t> dense_cycles(const Product& product, const VectorType& type,
                                          MachineCosts& costs);

/// The plan as JSON, with the keys that the machine uses.
config::Json printed(const VectorPlan& plan, const MachineConfig& machine, bool kept);

/// Reads a row of an operand as numbers.
using RowReader = std::function<void(std::uint32_t row, std::span<float> into)>;

/// The workload of a product of vector types. Its check compares C with plain loops, each element
/// bit-exact: all rows, or about 64 of them as compares_all() says.
class VectorWorkload : public Workload {
 public:
  /// `b` makes a reader of all of B, also with kept blocks. The summary need not contain what
  /// follows from the product and its plan; `operations`: useful ones.
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
