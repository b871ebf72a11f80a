#include "kernels/gemm/vector_product.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/gemm/array_plan.h"
#include "kernels/pinned.h"
#include "sim/base/errors.h"
#include "sim/plan/lower.h"

namespace tessera::gemm {
namespace {

constexpr std::uint32_t kMost = 1U << 24;
constexpr config::Names<bool, 2> kSums{{{"whole", true}, {"results", false}}};
constexpr const char* kOfArrays[] = {"array_rows", "array_columns", "list_rows"};
constexpr const char* kOfTiles = "depth_parts";

bool is_array(const MachineConfig& machine) { return machine.fabric.kind == "streams"; }

const MatrixShape& shape_of(const MatrixUnitConfig& unit, Type type) {
  if (type == Type::i8) return unit.i8;
  return type == Type::i16 ? unit.i16 : unit.bf16;
}

void require_sizes(const VectorPlan& pinned, const VectorType& type, const Patch& patch) {
  kernels::require_pinned(pinned.rows % patch.rows == 0, "rows", pinned.rows, "multiples of {}",
                          patch.rows);
  kernels::require_pinned(pinned.columns % column_unit(type, patch) == 0, "columns", pinned.columns,
                          "multiples of {} with dtype {}", column_unit(type, patch), type.name);
  const bool whole = pinned.depth % depth_unit(type) == 0;
  kernels::require_pinned(pinned.depth == 0 || (whole && pinned.depth >= least_depth(type)),
                          "depth", pinned.depth, "multiples of {} from {} on with dtype {}",
                          depth_unit(type), least_depth(type), type.name);
}

Searched searched(const VectorPlan& pinned, const Product& product, const VectorType& type,
                  MachineCosts& costs, const KeptBlocks* blocks) {
  require_sizes(pinned, type, patch_of(type, blocks != nullptr));
  const auto search = is_array(costs.machine()) ? search_array : search_tiles;
  return search(pinned, product, type, costs, blocks);
}

}  // namespace

void describe(config::Fields& fields, KeptPlan& kept, std::string_view unused_with) {
  VectorPlan& plan = kept.plan;
  const auto field = [&](const char* key, const char* sentence, std::uint32_t& value) {
    fields.require(unused_with.empty() || !fields.given(key), key,
                   "found with dtype f16 or f32, allowed with i8, i16 and bf16");
    fields.field({key, sentence, "", false, unused_with}, value, {0, kMost});
  };
  field("rows",
        "rows of a core's tile of C (spmm_static: columns of Y), a multiple of 16 (32 in "
        "spmm_static with i8); this and each key below: 0: searched",
        plan.rows);
  field("columns", "columns of a core's tile, a multiple of 8 (16 in gemm with i8)", plan.columns);
  field("depth",
        "depth of a step: a multiple of 16 for i8 and bf16, of 8 for i16; at least twice that",
        plan.depth);
  field("array_rows", "rows of the array that are used; arrays only", plan.array_rows);
  field("array_columns", "columns of the array that are used; arrays only", plan.array_columns);
  field("list_rows",
        "blocks of rows of C (one tile per core) covered by one descriptor list from the host; "
        "arrays only",
        plan.list_rows);
  field("depth_parts",
        "tiles that share the depth of one tile of C and add their sums; not on arrays",
        plan.depth_parts);
}

void describe(config::Fields& fields, VectorPlan& plan, std::string_view unused_with) {
  KeptPlan sizes{plan};
  describe(fields, sizes, unused_with);
  plan = sizes.plan;
  fields.require(unused_with.empty() || !fields.given("sums"), "sums",
                 "found with dtype f16 or f32, allowed with i8, i16 and bf16");
  fields.field({"sums",
                "what a core keeps between steps: whole sums, or results that are rounded and "
                "saturated after every step",
                "", false, unused_with},
               plan.whole_sums, kSums);
}

void describe_shift(config::Fields& fields, std::uint32_t& shift, const VectorType* type) {
  constexpr std::uint32_t kMostShift = 31;
  fields.field({"shift",
                "right shift of i8 and i16 sums in bits, rounded to nearest even, before "
                "saturation; seeded values are as large as it allows"},
               shift, {0, kMostShift});
  fields.require(shift == 0 || (type != nullptr && !type->is_float()), "shift",
                 "found {}, allowed 0 without dtype i8 or i16", shift);
}

const VectorType* vector_type_on(const MachineConfig& machine, Type dtype) {
  const VectorType* const type = vector_type(dtype);
  if (type == nullptr && is_array(machine))
    throw KeyError("workload.dtype",
                   "found {}, allowed i8, i16, bf16 with machine.fabric.kind streams",
                   config::name_of(kElementTypes, dtype));
  if (type != nullptr && !shape_of(machine.tile.matrix_unit, dtype).exists())
    throw KeyError(fmt::format("machine.tile.matrix_unit.{}.outputs", type->name),
                   "found 0, allowed {}: products of {} use that unit", type->outputs, type->name);
  return type;
}

VectorGrid::VectorGrid(const Product& product, const VectorType& of, const VectorPlan& by,
                       const KeptBlocks* blocks)
    : type(&of),
      plan(by),
      patch(patch_of(of, blocks != nullptr)),
      m(round_up(product.m, by.rows * by.array_rows)),
      n(round_up(product.n, by.columns * by.array_columns)),
      k(round_up(product.k, by.depth * std::max(by.depth_parts, 1U))),
      row_blocks(m / (by.rows * by.array_rows)),
      column_blocks(n / (by.columns * by.array_columns)),
      parts(std::max(by.depth_parts, 1U)),
      steps(k / by.depth / parts) {
  if (blocks != nullptr)
    kept = std::make_shared<const KeptTiles>(*blocks, of, by.tile(), n / by.columns, all_steps());
}

std::string problem_text(const VectorType& type, const Product& product) {
  return fmt::format("{}x{}x{} {}", product.m, product.n, product.k, type.name);
}

PricedProduct vector_plan(const VectorPlan& pinned, const Product& product, const VectorType& type,
                          MachineCosts& costs, const KeptBlocks* blocks) {
  const auto [best, short_of, misfit] = searched(pinned, product, type, costs, blocks);
  if (best) return *best;
  if (!misfit.empty()) throw UserError(misfit);
  if (pinned != VectorPlan{})
    throw KeyError("workload.plan", "found tiles that need at least {} bytes of {}, allowed {}",
                   short_of.needed, short_of.what, short_of.there);
  throw UserError("a product of {}: the smallest tiles need {} bytes of {}, which has {}",
                  problem_text(type, product), short_of.needed, short_of.what, short_of.there);
}

std::optional<std::uint64_t> dense_cycles(const Product& product, const VectorType& type,
                                          MachineCosts& costs) {
  const Searched found = searched({}, product, type, *costs.with_tiles(0), nullptr);
  return found.best ? std::optional(found.best->prediction.cycles) : std::nullopt;
}

config::Json printed(const VectorPlan& plan, const MachineConfig& machine, bool kept) {
  config::Json keys = kept ? config::resolved(KeptPlan{plan}) : config::resolved(plan);
  if (is_array(machine))
    keys.erase(kOfTiles);
  else
    for (const char* key : kOfArrays) keys.erase(key);
  return keys;
}

VectorWorkload::VectorWorkload(VectorProduct product, const PricedProduct& chosen,
                               const MachineConfig& machine, std::function<RowReader()> b,
                               std::uint64_t operations, WorkloadSummary summary)
    : product_(std::move(product)), machine_(machine), b_(std::move(b)) {
  const VectorType& type = *product_.grid.type;
  summary.peak_type = type.name;
  summary.plan = printed(chosen.plan, machine, product_.grid.kept != nullptr);
  summary.prediction = chosen.prediction;
  (type.is_float() ? summary.useful_flops : summary.useful_integer_operations) = operations;
  summarise(std::move(summary));
}

program::Program VectorWorkload::lowered() const {
  program::Program program = is_array(machine_)
                                 ? make_array_program(product_, array_of(machine_))
                                 : plan::lower(describe_tiles(product_, machine_).description);
  const ProductNames& names = product_.names;
  program.add_tensor(tensor_of(names.a, product_.a, product_.product.m, names.transposed));
  if (product_.b)
    program.add_tensor(tensor_of(names.b, *product_.b, product_.product.k, names.transposed));
  return program;
}

}  // namespace tessera::gemm
