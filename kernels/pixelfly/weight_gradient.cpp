#include <algorithm>

#include <nlohmann/json.hpp>

#include "kernels/pixelfly/gradient_products.h"
#include "kernels/pixelfly/pixelfly.h"
#include "kernels/sparse/operand/sources.h"
#include "kernels/spmm_static/spmm_static.h"
#include "sim/base/errors.h"
#include "sim/config/writers.h"
#include "sim/machine/nodes.h"
#include "sim/plan/lower.h"

namespace tessera::pixelfly {

using plan::Described;
using sparse::BlockMatrix;

namespace {

/// Adds the step that multiplies gradients with respect to gamma S and (1 - gamma) U V^T by their
/// factors, in place; `first_dense`: U's first block column.
void scale(const Statement& statement, const GradientPlan& plan, double gamma,
           const GradientArrays& arrays, std::uint32_t first_dense) {
  struct Scaled {
    Scaling scaling;
    BufferId values;
  };
  std::vector<Scaled> all;
  const auto add = [&](const Sampled& product, BufferId values, std::uint32_t first) {
    all.push_back({Scaling(statement, product.partition.shape.type, gamma,
                           [&product, first](Tile tile) {
                             return factor_runs(product, tile, [&](std::uint64_t e) {
                               return product.column(e) < first ? Factor::of_s : Factor::of_uv;
                             });
                           }),
                   values});
  };
  add(plan.dw, arrays.dw, first_dense);
  if (plan.dv) add(*plan.dv, arrays.dv, 0);
  statement.description.compute("scale", plan.dw.partition.tiles, [all](Tile tile, Calls& calls) {
    for (const Scaled& one : all) one.scaling.add(calls, tile, one.values, one.values);
  });
}

/// Throws KeyError if the machine has no matrix unit for products that are pinned to it.
void require_blocks_on_unit(const sparse::Shape& shape, const MachineConfig& machine) {
  kernels::require_unit(machine, shape.type, shape.partials);
  if (shape.on_unit()) return;
  throw KeyError("workload.plan.products",
                 "found \"matrix_unit\", allowed \"best\" and \"vector\" with blocks of {}",
                 shape.block);
}

nlohmann::ordered_json printed(const GradientPlan& plan) {
  nlohmann::ordered_json json;
  json["products"] = plan.dw.on_unit ? "matrix_unit" : "vector";
  if (plan.dw.on_unit)
    json["gradient_unit"] = config::name_of(kernels::kForms, plan.dw.partition.shape.unit.form());
  if (plan.z) json["low_rank"] = config::resolved(pinned(*plan.z));
  if (plan.t) json["low_rank_back"] = config::resolved(pinned(*plan.t));
  json["dw"] = config::resolved(pinned(plan.dw));
  if (plan.dv) json["dv"] = config::resolved(pinned(*plan.dv));
  return json;
}

constexpr std::uint64_t kBlockStep = 64;  // sample mode compares one of this many blocks

/// Adjusts the comparison of a sum whose result is multiplied and rounded once more.
void multiply(kernels::Compared& one, double factor, program::Type type) {
  constexpr double kTwice = 1.001;  // f16: the product is rounded to f32 before
  one.expected *= factor;
  one.allowed *= factor;
  one.reach *= factor;
  one.allowed += kTwice * data::unit_roundoff(type) * (std::abs(one.expected) + one.allowed) +
                 kernels::half_smallest(type);
}

/// Gradients at the blocks of `pattern`, computed by a plan, with their operands. Results are
/// blocks of S, and from block column `first_dense` on a dense matrix.
struct Gradient {
  const char* name;
  const Sampled& plan;
  const sparse::BlockMatrix& pattern;
  std::uint32_t first_dense;
  std::span<const float> blocks, dense;
  const std::vector<float>& left;
  std::function<const float*(std::uint64_t row)> right;  ///< null: padding
};

/// The workload of pass grad_weights: Z = V^T X and T = U^T dY, then [dS | dU] = dY [X ; Z]^T at
/// the blocks of [S | U], and dV = X T^T.
class WeightGradient : public LayerWorkload {
 public:
  /// Throws as LayerWorkload(), and UserError if no plan fits.
  WeightGradient(const Options& options, const sparse::Shape& shape, MachineCosts& costs)
      : LayerWorkload(options, shape, costs),
        z_(make_chain(layer_, Pass::forward, inner_block(shape_)).inner),
        t_(make_chain(layer_, Pass::grad_input, inner_block(shape_)).inner),
        dw_(make_chain(layer_, Pass::forward, inner_block(shape_)).outer),
        dv_(all_blocks(layer_.v, shape_.block)),
        vt_(transposed_blocks(layer_.v, shape_.block, z_.rows)),
        dy_(layer_.s.rows, options.n, options.weights.dtype,
            {options.gradient, "gradient", options.weights.seed, sparse::kGradientStream}) {
    plan_ = choose(costs);
    const std::uint64_t inner = (layer_.u.rows() + layer_.v.rows()) * layer_.rank();
    summarise_layer({.plan = printed(plan_),
                     .prediction = plan_.prediction,
                     .rounded = {{"gradient", dy_.rounded()}},
                     .useful_flops = 2 * (layer_.parameters() + inner) * options.n});
  }
  /// True if products of form `shape` may be faster: low-rank ones, or gradients with its layouts.
  [[nodiscard]] bool slower_than(const sparse::Shape& shape, MachineCosts& costs) const {
    // The operands' layout determines the unit's blocks that can compute gradients.
    const bool lies_so = shape_.on_unit() && shape.x_depth() == shape_.x_depth() &&
                         shape.y_depth() == shape_.y_depth();
    if (shape.on_unit() && !lies_so) return true;
    return plan_.z && spmm_static::may_be_faster(inner_shape(shape), plan_.z->partition, z_, costs);
  }

  [[nodiscard]] program::Program lowered() const override {
    const sparse::TileCode code;
    return plan::lower(describe(plan_, code, false).description);
  }
  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override {
    const std::size_t n = options_.n;
    HostThreads threads(request.threads);
    const std::vector<float> x = kernels::rows_of(x_, threads);
    const std::vector<float> dy = kernels::rows_of(dy_, threads);
    CheckResult inner{true, 0, 1, "full"};
    std::vector<float> z, t;
    const auto check_inner = [&](const char* name, const spmm_static::Plan& of,
                                 const sparse::BlockMatrix& w, const std::vector<float>& of_what,
                                 std::vector<float>& made) {
      made = tensors.floats(name, threads);
      CheckResult one = spmm_static::check_product({&of.partition, 1}, {&w, 1}, w,
                                                   {of_what, options_.n}, made, request);
      if (!one.passed) one.problem += fmt::format(" (Y is {} here)", name);
      inner = kernels::worse(inner, one);
    };
    if (plan_.z) {
      check_inner("Z", *plan_.z, z_, x, z);
      check_inner("T", *plan_.t, t_, dy, t);
    }
    const std::uint64_t given = round_up(x_.rows(), std::uint64_t{shape_.block});
    const std::vector<float> ds = tensors.floats("dS.data", threads);
    const std::vector<float> du = plan_.dv ? tensors.floats("dU", threads) : std::vector<float>{};
    const auto x_and_z = [&](std::uint64_t row) -> const float* {
      if (row < x_.rows()) return &x[row * n];
      return row < given ? nullptr : &z[(row - given) * n];
    };
    CheckResult result = kernels::worse(
        check_gradient({"[dS | dU]", plan_.dw, dw_, first_dense(), ds, du, dy, x_and_z}, request,
                       threads),
        inner);
    if (!plan_.dv) return result;
    const std::vector<float> dv = tensors.floats("dV", threads);
    const auto of_t = [&](std::uint64_t row) { return &t[row * n]; };
    return kernels::worse(
        result, check_gradient({"dV", *plan_.dv, dv_, 0, {}, dv, x, of_t}, request, threads));
  }

 private:
  [[nodiscard]] CheckResult check_gradient(const Gradient& of, const CheckRequest& request,
                                           HostThreads& threads) const {
    const Sampled& plan = of.plan;
    const std::uint32_t side = of.pattern.block;
    const program::Type type = plan.partition.shape.type;
    const std::uint32_t depth = plan.on_unit ? plan.partition.shape.unit.depth : 0;
    const auto parts = static_cast<std::uint32_t>(plan.partition.parts.size());
    sparse::SampledProduct product{
        of.name,    kernels::rounding_of(type, plan.partials(), std::max(depth, 1U), parts + 1),
        side,       depth,
        options_.n, plan.blocks.size()};
    product.corner = [&](std::uint64_t e) -> sparse::SampledProduct::Corner {
      return {std::uint64_t{plan.row(e)} * side, std::uint64_t{plan.column(e)} * side};
    };
    product.left = [&](std::uint64_t row) {
      return row < of.pattern.rows ? &of.left[row * options_.n] : nullptr;
    };
    product.right = [&](std::uint64_t row) {
      return row < of.pattern.columns ? of.right(row) : nullptr;
    };
    const auto in_s = [&](std::uint64_t e) { return plan.column(e) < of.first_dense; };
    product.found = [&](std::uint64_t e, std::uint32_t at) {
      if (in_s(e))
        return of.blocks[block_index(layer_.s, plan.row(e), plan.column(e)) * plan.area() + at];
      const std::uint64_t row = std::uint64_t{plan.row(e)} * side + at / side;
      const std::uint64_t column =
          std::uint64_t{plan.column(e) - of.first_dense} * side + at % side;
      return of.dense[row * layer_.rank() + column];
    };
    for (const Part& part : plan.partition.parts) product.columns.push_back({part.begin, part.end});
    if (layer_.gamma)
      product.then = [&](std::uint64_t e, kernels::Compared& one) {
        const float factor = factor_of(in_s(e) ? Factor::of_s : Factor::of_uv, *layer_.gamma);
        multiply(one, static_cast<double>(factor), type);
        one.exact = scaled(*one.exact, factor, type);
      };
    product.sample =
        kernels::sample_lines(product.blocks, kBlockStep, request.seed, sparse::kSampleStream);
    product.flops = useful_flops();
    return sparse::check_sampled(product, request, threads);
  }
  /// A candidate form for the gradients of weights.
  struct GradientForm {
    sparse::Shape shape;
    bool on_unit;
  };
  /// The block column of [S | U] where U begins.
  [[nodiscard]] std::uint32_t first_dense() const { return layer_.s.block_columns(); }
  /// The program of a plan; `estimate`: without operands, for estimates only.
  [[nodiscard]] Described describe(const GradientPlan& plan, const sparse::TileCode& code,
                                   bool estimate) const {
    const Partition& partition = plan.dw.partition;
    Described program(partition.tiles);
    plan::Description& description = program.description;
    const Statement statement{description, code, contexts_};
    const auto results = [&](const Sampled& of, const char* name) {
      return statement.stored(of.results(), name, {}, true);
    };
    const auto rows = [&](const EvenStorage& storage, const char* name,
                          const data::DenseOperand& operand) {
      return spmm_static::given(statement, {shape_, storage, partition.columns, name},
                                estimate ? nullptr : &operand);
    };
    GradientArrays arrays{};
    arrays.dw = results(plan.dw, "dw");
    if (plan.dv) arrays.dv = results(*plan.dv, "dv");
    arrays.x = rows(plan.squares.empty() ? partition.x_storage() : plan.squares.front(), "x", x_);
    arrays.dy = rows(plan.dw.a.front().storage, "dy", dy_);
    const auto product = [&](const spmm_static::Plan& of, const BlockMatrix& w, const char* name,
                             BufferId x) {
      const spmm_static::DenseEnd kept{of.partition.shape, of.partition.y_storage(),
                                       of.partition.columns, "low rank"};
      const BufferId made = wanted(statement, kept);
      add_tensor(statement, {name, program::Role::result, shape_.type, {w.rows, options_.n}}, kept,
                 made);
      spmm_static::Product one(statement, of.partition, w, fmt::format("{} ", name));
      one.add_steps({x}, made);
      program.add(one.representatives());
      return made;
    };
    if (plan.z) arrays.z = product(*plan.z, z_, "Z", arrays.x);
    if (plan.t) arrays.t = product(*plan.t, t_, "T", arrays.dy);
    program.add(state_products(statement, plan, arrays));
    if (options_.gamma) scale(statement, plan, *options_.gamma, arrays, first_dense());
    if (estimate) return program;
    add_sparse_gradient(description, {plan.dw, arrays.dw, first_dense()}, layer_.s);
    if (plan.dv) {
      add_dense_gradient(description, {plan.dw, arrays.dw, first_dense()}, "dU", layer_.u);
      add_dense_gradient(description, {*plan.dv, arrays.dv, 0}, "dV", layer_.v);
    }
    add_layer(description, layer_, shape_.type);
    description.tensor(data::tensor_of("X", x_, shape_.type));
    description.tensor(data::tensor_of("dY", dy_, shape_.type));
    return program;
  }
  /// A plan in one way, with `slack` bytes of each tile reserved for lists; choose() tries several.
  [[nodiscard]] GradientPlan planned(MachineCosts& costs, const GradientForm& way,
                                     std::uint64_t slack) const {
    const bool on_unit = way.on_unit;
    const std::uint32_t n = on_unit ? round_up(options_.n, square_columns(way.shape)) : options_.n;
    const std::uint32_t tiles = costs.machine().tiles;
    const auto rows = [&](const sparse::Shape& shape, std::uint64_t first, std::uint64_t count) {
      return DenseRows{first,
                       spmm_static::rows_on_tiles(shape, count, round_up(n, shape.lanes()), tiles)};
    };
    const sparse::Shape inner = inner_shape(shape_);
    const std::uint64_t x_rows = std::uint64_t{first_dense()} * shape_.block;
    GradientRows lie{rows(shape_, 0, x_rows),
                     rows(shape_, 0, std::uint64_t{dw_.block_rows()} * shape_.block),
                     {},
                     {},
                     n};
    if (on_unit) lie.x.storage = square_storage(way.shape, x_rows, n, tiles);
    const bool low_rank = z_.rows > 0;
    if (low_rank) lie.z = rows(inner, x_rows, z_.rows);
    if (low_rank) lie.t = rows(inner, 0, z_.rows);
    const Pinned& pins = options_.plan;
    GradientPlan plan = plan_products({dw_, dv_, vt_}, way.shape, lie, costs, pins, slack, on_unit);
    if (!low_rank || !plan.misfit().empty()) return plan;
    const auto product = [&](const BlockMatrix& w, const spmm_static::Pinned& pinned,
                             const char* key, const DenseRows& of, std::uint64_t beside) {
      beside += lie.x.storage.each() + lie.dy.storage.each();
      return choose_plan(w, inner, n, costs, pinned, {"pixelfly", key, {of}, beside});
    };
    plan.z = product(z_, pins.low_rank, "workload.plan.low_rank", lie.x, slack);
    plan.t = product(t_, pins.low_rank_back.value_or(pins.low_rank), "workload.plan.low_rank_back",
                     lie.dy, slack + lie.t->storage.each());
    return plan;
  }
  /// The ways that pinned keys allow. Throws KeyError if there are none.
  [[nodiscard]] std::vector<GradientForm> ways(const MachineConfig& machine) const {
    const Products products = options_.plan.products;
    if (products == Products::matrix_unit) require_blocks_on_unit(shape_, machine);
    const std::uint32_t parts = std::max(options_.plan.dw.parts, options_.plan.dv.parts);
    const kernels::Form& pinned = options_.plan.gradient_unit;
    std::vector<GradientForm> all;
    std::string forms;
    for (const sparse::Shape& shape : gradient_shapes(shape_, machine)) {
      const kernels::Form form = shape.unit.form();
      forms += fmt::format(", {}", config::name_of(kernels::kForms, form));
      const bool wanted =
          products != Products::vector && (pinned == kernels::Form() || pinned == form);
      const bool goes = parts <= most_parts(shape, options_.n, machine.tiles, true);
      if (wanted && (goes || products == Products::matrix_unit)) all.push_back({shape, true});
    }
    if (pinned != kernels::Form() && all.empty())
      throw KeyError("workload.plan.gradient_unit", "found {}, allowed auto{}",
                     config::name_of(kernels::kForms, pinned), forms);
    if (products != Products::matrix_unit && pinned == kernels::Form())
      all.push_back({shape_, false});
    return all;
  }
  /// The faster prediction: on the unit or row by row.
  [[nodiscard]] GradientPlan choose(MachineCosts& costs) const {
    constexpr std::uint32_t kSteps = 4;
    const MachineConfig& machine = costs.machine();
    std::vector<GradientForm> ways = this->ways(machine);
    const std::uint64_t capacity = sram_bytes(machine.tile);
    std::map<std::pair<std::size_t, std::uint32_t>, GradientPlan> plans;
    const auto plan_of = [&](std::size_t way, std::uint32_t step) -> GradientPlan& {
      const auto [known, is_new] = plans.try_emplace({way, step});
      if (is_new)
        known->second = planned(costs, ways[way], capacity * step / (std::uint64_t{2} * kSteps));
      return known->second;
    };
    std::string why;
    for (std::size_t way = ways.size(); way-- > 0;) {
      if (plan_of(way, 0).misfit().empty()) continue;
      why = plan_of(way, 0).misfit();
      ways.erase(ways.begin() + static_cast<std::ptrdiff_t>(way));
      plans.clear();
    }
    if (ways.empty()) throw UserError(why);
    const sparse::TileCode code;
    plan::Pricing pricing(costs);
    plan::Space space;
    space.bounds.resize(ways.size());
    space.describe = [&](std::size_t way, std::uint32_t step) {
      return describe(plan_of(way, step), code, true);
    };
    space.variants = [&](std::size_t way) {
      std::uint32_t steps = 1;
      while (steps <= kSteps && plan_of(way, steps).misfit().empty()) ++steps;
      return steps;
    };
    const plan::Found found = plan::search(space, pricing);
    if (!found.fits)
      throw UserError(program::overflow_message(
          fmt::format("pixelfly: the gradients of {} columns do not fit {} tiles", options_.n,
                      machine.tiles),
          {&found.memory, 1}, machine));
    GradientPlan plan = std::move(plan_of(found.option, found.variant));
    plan.prediction = found.prediction;
    return plan;
  }

  BlockMatrix z_, t_;    ///< V^T and U^T
  BlockMatrix dw_, dv_;  ///< patterns of the wanted blocks: [S | U] and V
  BlockMatrix vt_;       ///< V^T, in blocks of the same side
  data::DenseOperand dy_;
  GradientPlan plan_;
};

}  // namespace

std::unique_ptr<Workload> make_weight_gradient(const Options& options, MachineCosts& costs) {
  return best_form<WeightGradient>(options, costs);
}

}  // namespace tessera::pixelfly
