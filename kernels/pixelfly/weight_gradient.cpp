#include "kernels/pixelfly/weight_gradient.h"

#include <algorithm>
#include <exception>

#include <nlohmann/json.hpp>

#include "kernels/pixelfly/squares.h"
#include "kernels/pixelfly/tensors.h"
#include "kernels/sparse/operand/sources.h"
#include "kernels/spmm_static/cost.h"
#include "kernels/spmm_static/ends.h"
#include "sim/base/errors.h"
#include "sim/config/writers.h"
#include "sim/plan/program_cost.h"

namespace tessera::pixelfly {

using program::BufferId;
using sparse::BlockMatrix;
using spmm_static::DenseEnd;

namespace {

/// The masks and factors that are planned for.
struct Matrices {
  const BlockMatrix& z;
  const BlockMatrix& t;
  GradientMatrices wanted;
  std::optional<double> gamma;

  /// The block column of [S | U] where U begins.
  [[nodiscard]] std::uint32_t first_dense() const {
    return wanted.dw.block_columns() - z.rows / wanted.dw.block;
  }
};

/// Gradients of a tile, and U's first block column.
struct GradientsOfTile {
  TileId tile;
  BufferId dw, dv;
  std::uint32_t first_dense;
};
/// Vertices that multiply gradients with respect to gamma S and (1 - gamma) U V^T in place by their
/// factors.
std::vector<program::Vertex> scalings(sparse::Assembly& assembly, const GradientPlan& plan,
                                      double gamma, const GradientsOfTile& of) {
  std::vector<program::Vertex> vertices;
  const BufferId factor =
      assembly.list(index(of.tile), std::vector{static_cast<float>(gamma)}, "gamma");
  const auto add = [&](const Sampled& product, BufferId values, std::uint32_t first_dense) {
    if (index(of.tile) >= product.results().tiles()) return;
    vertices.push_back(
        scaling(assembly, product.partition.shape.type, of.tile,
                {values, values, factor, factor_runs(product, index(of.tile), [&](std::uint64_t e) {
                   return product.column(e) < first_dense ? Factor::of_s : Factor::of_uv;
                 })}));
  };
  add(plan.dw, of.dw, of.first_dense);
  if (plan.dv) add(*plan.dv, of.dv, 0);
  return vertices;
}

/// What the program of a plan needs; throws UserError if it does not fit.
using Needs = std::function<program::Needs(const GradientPlan&)>;

class GradientPlanner {
 public:
  GradientPlanner(const Matrices& of, const sparse::Shape& shape, std::uint32_t n,
                  MachineCosts& costs, const Pinned& pinned, const Needs& needs, bool on_unit)
      : of_(of),
        shape_(shape),
        on_unit_(on_unit),
        n_(on_unit ? round_up(n, square_columns(shape)) : n),
        costs_(costs),
        pinned_(pinned),
        needs_(needs),
        capacity_(std::uint64_t{costs.machine().tile.sram_kib} * 1024) {
    inner_shape_.layout = kernels::Layout::blocked;
    inner_shape_.block = inner_block(shape);
    const std::uint64_t made = of.z.rows;
    given_rows_ = std::uint64_t{of.wanted.dw.block_columns()} * shape.block - made;
    x_ = rows(shape, 0, given_rows_);
    if (on_unit) x_.storage = square_storage(shape, given_rows_, n_, costs.machine().tiles);
    dy_ = rows(shape, 0, std::uint64_t{of.wanted.dw.block_rows()} * shape.block);
    made_ = rows(inner_shape_, 0, made);
  }

  /// With less and less of a tile for each product, until all lists go in beside it. Throws what
  /// was in the way at first.
  GradientPlan run() {
    constexpr std::uint64_t kSteps = 4;
    std::exception_ptr why;
    for (std::uint64_t step = 0; step <= kSteps; ++step) {
      try {
        GradientPlan plan = planned(capacity_ * step / (2 * kSteps));
        take_schedule(plan);
        return plan;
      } catch (const UserError&) {
        if (!why) why = std::current_exception();
      }
    }
    std::rethrow_exception(why);
  }

 private:
  [[nodiscard]] DenseRows rows(const sparse::Shape& shape, std::uint64_t first,
                               std::uint64_t count) const {
    return {first, spmm_static::rows_on_tiles(shape, count, round_up(n_, shape.lanes()),
                                              costs_.machine().tiles)};
  }
  [[nodiscard]] std::uint64_t given() const { return x_.storage.each() + dy_.storage.each(); }

  GradientPlan planned(std::uint64_t slack) {
    const bool low_rank = of_.z.rows > 0;
    const std::uint64_t made = low_rank ? made_.storage.each() : 0;
    GradientRows lie{x_, dy_, {}, {}, n_};
    if (low_rank) lie.z = DenseRows{given_rows_, made_.storage};
    if (low_rank) lie.t = made_;
    GradientPlan plan = plan_products(of_.wanted, shape_, lie, costs_, pinned_, slack, on_unit_);
    if (shape_.relayouts()) add_rows_in(plan.dw);
    if (of_.gamma) add_scaling(plan);
    if (!low_rank) return plan;
    plan.z = product(of_.z, {pinned_.low_rank, "workload.plan.low_rank"}, x_, slack);
    plan.t = product(
        of_.t, {pinned_.low_rank_back.value_or(pinned_.low_rank), "workload.plan.low_rank_back"},
        dy_, slack + made);
    return plan;
  }
  void add_rows_in(Sampled& first) {
    spmm_static::Cost cost(shape_, 0, costs_);
    for (const DenseRows* of : {&x_, &dy_})
      cost.add_rows_in(first.prediction, first.partition, of->storage);
  }
  void add_scaling(GradientPlan& plan) const {
    const StepCosts steps(costs_);
    const sparse::TileCode code;
    StepCosts::Superstep step;
    step.vertex_cycles = steps.vertices([&](program::Program& sample) {
      sparse::Assembly assembly(code, sample, costs_.machine().tile.contexts);
      const auto buffer = [&](const Sampled& of) {
        return assembly.buffer(0, of.results().each(), "sample");
      };
      const BufferId dw = buffer(plan.dw);
      const BufferId dv = plan.dv ? buffer(*plan.dv) : dw;
      return scalings(assembly, plan, *of_.gamma, {TileId{0}, dw, dv, of_.first_dense()});
    });
    steps.add(plan.dw.prediction, step);
  }
  [[nodiscard]] static std::uint64_t results(const GradientPlan& plan) {
    return plan.dw.results().each();
  }
  struct PinnedAt {
    const spmm_static::Pinned& plan;
    const char* key;
  };
  spmm_static::Plan product(const BlockMatrix& w, const PinnedAt& pinned, const DenseRows& of,
                            std::uint64_t beside) {
    return spmm_static::choose_plan(w, inner_shape_, n_, costs_, pinned.plan,
                                    {"pixelfly", pinned.key, {of}, beside + given()});
  }

  /// The program itself says whether it fits, and what its exchanges take, where that does not take
  /// long or the estimate may be wrong. Throws UserError if it does not fit.
  void take_schedule(GradientPlan& plan) const {
    const program::CategoryBytes need = needed(plan);
    const double share = static_cast<double>(program::total(need)) / static_cast<double>(capacity_);
    if (share > kHopeless)
      throw UserError(program::overflow_message(
          fmt::format("pixelfly: the gradients of {} columns do not fit {} tiles", n_,
                      costs_.machine().tiles),
          {&need, 1}, costs_.machine()));
    if (share > kSure || costs_.machine().tiles <= kMostTilesScheduled)
      plan.scheduled = scheduled(plan.prediction(), needs_(plan), costs_);
  }
  /// Memory of a tile, of the sampled product that needs more beside the lists of the others.
  [[nodiscard]] program::CategoryBytes needed(const GradientPlan& plan) const {
    if (!plan.z) return plan.dw.memory(0);
    const std::uint64_t lists = spmm_static::resident(plan.z->partition).lists +
                                spmm_static::resident(plan.t->partition).lists;
    const auto more = [](const Sampled& of) {
      return of.memory(0)[static_cast<std::size_t>(program::Category::exchange)];
    };
    const std::uint64_t made = made_.storage.each();
    const program::CategoryBytes dw = plan.dw.memory(lists + more(*plan.dv) + made);
    const program::CategoryBytes dv = plan.dv->memory(lists + more(plan.dw) + results(plan));
    return program::total(dw) < program::total(dv) ? dv : dw;
  }

  const Matrices& of_;
  const sparse::Shape shape_;
  bool on_unit_;
  std::uint32_t n_;
  MachineCosts& costs_;
  const Pinned& pinned_;
  const Needs& needs_;
  std::uint64_t capacity_;
  sparse::Shape inner_shape_ = shape_;
  std::uint64_t given_rows_;
  DenseRows x_, dy_, made_;
};

/// Throws KeyError where the machine has no unit for the products that are wanted on it.
void require_blocks_on_unit(const sparse::Shape& shape, const MachineConfig& machine) {
  kernels::require_unit(machine, shape.type, shape.partials);
  if (shape.on_unit()) return;
  throw KeyError(
      "workload.plan.products",
      fmt::format("found \"matrix_unit\", allowed \"best\" and \"vector\" with blocks of {}",
                  shape.block));
}

/// On the unit or row by row, whichever is predicted to take less.
GradientPlan plan_gradient(const Matrices& of, const sparse::Shape& shape, std::uint32_t n,
                           MachineCosts& costs, const Pinned& pinned, const Needs& needs) {
  const auto plan = [&](bool on_unit) {
    return GradientPlanner(of, shape, n, costs, pinned, needs, on_unit).run();
  };
  if (pinned.products == Products::matrix_unit) require_blocks_on_unit(shape, costs.machine());
  if (pinned.products == Products::vector || !shape.on_unit()) return plan(false);
  if (pinned.products == Products::matrix_unit) return plan(true);
  return unit_or_vector(plan);
}

nlohmann::ordered_json printed(const GradientPlan& plan) {
  nlohmann::ordered_json json;
  json["products"] = plan.dw.on_unit ? "matrix_unit" : "vector";
  if (plan.z) json["low_rank"] = config::resolved(pinned(*plan.z));
  if (plan.t) json["low_rank_back"] = config::resolved(pinned(*plan.t));
  json["dw"] = config::resolved(pinned(plan.dw));
  if (plan.dv) json["dv"] = config::resolved(pinned(*plan.dv));
  return json;
}

}  // namespace

WeightGradient::WeightGradient(const Options& options, MachineCosts& costs)
    : options_(options),
      contexts_(costs.machine().tile.contexts),
      layer_(make_layer(options, costs.machine())),
      shape_(shape_of(options, costs.machine())),
      z_(make_chain(layer_, Pass::forward, inner_block(shape_)).inner),
      t_(make_chain(layer_, Pass::grad_input, inner_block(shape_)).inner),
      dw_(make_chain(layer_, Pass::forward, inner_block(shape_)).outer),
      dv_(all_blocks(layer_.v, shape_.block)),
      vt_(transposed_blocks(layer_.v, shape_.block, z_.rows)),
      x_(operand_x(options, layer_)),
      dy_(layer_.s.rows, options.n, options.weights.dtype,
          {options.gradient, "gradient", options.weights.seed, sparse::kGradientStream}) {
  const auto needs = [&](const GradientPlan& plan) {
    plan_ = plan;
    return costs.needs(build());
  };
  plan_ = plan_gradient({z_, t_, {dw_, dv_, vt_}, options_.gamma}, shape_, options.n, costs,
                        options_.plan, needs);
  const std::uint64_t inner = (layer_.u.rows() + layer_.v.rows()) * layer_.rank();
  summarise({.problem = problem_of(options),
             .peak_type = kernels::type_name(shape_.type),
             .plan = printed(plan_),
             .prediction = plan_.prediction(),
             .facts = facts_of(options, layer_),
             .rounded = {{"matrix", layer_.s.rounded},
                         {"u", layer_.u.rounded()},
                         {"v", layer_.v.rounded()},
                         {"x", x_.rounded()},
                         {"gradient", dy_.rounded()}},
             .useful_flops = 2 * (layer_.parameters() + inner) * options.n});
}

program::Program WeightGradient::build() const {
  const Partition& partition = plan_.dw.partition;
  const sparse::TileCode code;
  program::Program program(partition.tiles);
  sparse::Assembly assembly(code, program, contexts_);
  const auto results = [&](const Sampled& of, const char* name) {
    return spmm_static::wanted(assembly, {shape_, of.results(), partition.columns, name});
  };
  const std::vector<BufferId> dw = results(plan_.dw, "dw");
  const std::vector<BufferId> dv = plan_.dv ? results(*plan_.dv, "dv") : dw;
  const DenseEnd x{shape_, partition.x_storage(), partition.columns, "x"};
  const DenseEnd dy{shape_, plan_.dw.a.front().storage, partition.columns, "dy"};
  spmm_static::BuffersOfRows right{given(assembly, x, x_)};
  const spmm_static::BuffersOfRows left{given(assembly, dy, dy_)};
  spmm_static::BuffersOfRows t;
  const auto product = [&](const spmm_static::Plan& of, const BlockMatrix& w, const char* name,
                           const std::vector<BufferId>& rows) {
    const DenseEnd kept{of.partition.shape, of.partition.y_storage(), of.partition.columns,
                        "low rank"};
    std::vector<BufferId> made = spmm_static::wanted(assembly, kept);
    program.add_tensor(
        tensor_of({name, program::Role::result, shape_.type, w.rows, options_.n}, kept, {made}));
    made.resize(partition.tiles, made.back());
    spmm_static::Product(assembly, of.partition, w, fmt::format("{} ", name))
        .add_steps({rows}, made);
    return made;
  };
  if (plan_.z) {
    right.push_back(product(*plan_.z, z_, "Z", right.front()));
    t.push_back(product(*plan_.t, t_, "T", left.front()));
  }
  add_products(assembly, plan_, left, right, t, dw, dv);
  if (options_.gamma) {
    program::ComputeSet set{"scale", {}};
    for (std::uint32_t tile = 0; tile < partition.tiles; ++tile)
      std::ranges::move(scalings(assembly, plan_, *options_.gamma,
                                 {TileId(tile), dw[tile], dv[tile], first_dense()}),
                        std::back_inserter(set.vertices));
    assembly.add_step(std::move(set));
  }
  add_sparse_gradient(program, {plan_.dw, dw, first_dense()}, layer_.s);
  if (plan_.dv) {
    add_dense_gradient(program, {plan_.dw, dw, first_dense()}, "dU", layer_.u);
    add_dense_gradient(program, {*plan_.dv, dv, 0}, "dV", layer_.v);
  }
  add_layer(program, layer_, shape_.type);
  program.add_tensor(data::tensor_of("X", x_, shape_.type));
  program.add_tensor(data::tensor_of("dY", dy_, shape_.type));
  return program;
}

}  // namespace tessera::pixelfly
