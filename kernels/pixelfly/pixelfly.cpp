#include "kernels/pixelfly/pixelfly.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "kernels/sparse/operand/sources.h"
#include "kernels/spmm_static/spmm_static.h"
#include "sim/base/errors.h"
#include "sim/config/writers.h"
#include "sim/data/element.h"
#include "sim/plan/lower.h"

namespace tessera::pixelfly {

namespace {

constexpr config::Names<Pass, 3> kPasses{{{"forward", Pass::forward},
                                          {"grad_input", Pass::grad_input},
                                          {"grad_weights", Pass::grad_weights}}};

data::DenseOperand factor(const Options& options, std::uint32_t rows, const std::string& file,
                          const char* key, std::uint64_t stream) {
  const sparse::WeightOptions& weights = options.weights;
  return {rows, options.rank, weights.dtype, {file, key, weights.seed, stream}};
}

/// Throws KeyError if U and V alone exceed the memory of all tiles, before anything is allocated.
void require_room(const Options& options, std::uint64_t rows, const MachineConfig& machine) {
  constexpr std::uint64_t kCheap = std::uint64_t{1} << 24;  // below, the planner's error says more
  if (rows * options.rank <= kCheap) return;
  const std::uint64_t bytes = std::uint64_t{machine.tiles} * machine.tile.sram_kib * 1024;
  const std::uint64_t most = bytes / data::element_bytes(options.weights.dtype) / rows;
  if (options.rank <= most) return;
  throw KeyError("workload.rank",
                 "found {}, allowed 0 to {}: the {} elements of U and V exceed {} tiles of {} KiB",
                 options.rank, most, rows * options.rank, machine.tiles, machine.tile.sram_kib);
}

/// Rejects keys that the pass does not use.
void require_passes(config::Fields& fields, const Options& options) {
  const Pinned& plan = options.plan;
  const bool weights = options.pass == Pass::grad_weights;
  const auto only = [&](bool read, const char* passes, std::string_view key, bool given) {
    fields.require(read || !given, key, "is used by {} only, found {}", passes,
                   config::name_of(kPasses, options.pass));
  };
  const auto by_weights = [&](std::string_view key, bool given) {
    only(weights, "pass grad_weights", key, given);
  };
  by_weights("gradient", !options.gradient.empty());
  by_weights("plan.low_rank_back", plan.low_rank_back.has_value());
  by_weights("plan.dw", plan.dw != PinnedCuts());
  by_weights("plan.dv", plan.dv != PinnedCuts());
  by_weights("plan.products", plan.products != Products::best);
  by_weights("plan.gradient_unit", plan.gradient_unit != kernels::Form());
  spmm_static::Pinned cuts = plan.sparse;
  cuts.unit = {};
  constexpr const char* kProducts = "passes forward and grad_input";
  only(!weights, kProducts, "plan.sparse", cuts != spmm_static::Pinned());
  only(!weights, kProducts, "plan.rounds", plan.rounds != 0);
}

/// The form that pinned plans share, and the key of one of them.
struct PinnedUnit {
  const char* key;
  kernels::Form form;
};
PinnedUnit pinned_unit(const Pinned& plan) {
  PinnedUnit unit{"workload.plan.sparse.unit", plan.sparse.unit};
  const auto take = [&](const char* key, const kernels::Form& its) {
    if (its == kernels::Form()) return;
    if (unit.form != kernels::Form() && unit.form != its)
      throw KeyError(key, "found {}, allowed auto or {}, as of other products",
                     config::name_of(kernels::kForms, its),
                     config::name_of(kernels::kForms, unit.form));
    unit = {key, its};
  };
  take("workload.plan.low_rank.unit", plan.low_rank.unit);
  if (plan.low_rank_back) take("workload.plan.low_rank_back.unit", plan.low_rank_back->unit);
  return unit;
}

/// Adds unit blocks that need other operand layouts: they allow other forms of gradients. With rank
/// 0, adds one block of each depth. Otherwise adds blocks of each depth and number of outputs that
/// need fewer padding columns than the first: the largest blocks suit low-rank products.
void add_depths(std::vector<sparse::Shape>& shapes, const Options& options,
                const MachineConfig& machine) {
  const sparse::Shape first = shapes.front();
  if (!first.on_unit()) return;
  for (const kernels::BlockShape& form :
       kernels::block_shapes(machine.tile.matrix_unit, first.type, first.partials)) {
    sparse::Shape shape = first;
    shape.unit = form;
    const bool known = std::ranges::any_of(shapes, [&](const sparse::Shape& other) {
      return other.on_unit() && other.x_depth() == shape.x_depth() &&
             (options.rank == 0 || other.y_depth() == shape.y_depth());
    });
    const auto columns = [&](const sparse::Shape& of) {
      return round_up(options.n, square_columns(of));
    };
    if (shape.on_unit() && !known && std::max(form.depth, form.columns) <= first.block &&
        (options.rank == 0 || columns(shape) < columns(first)))
      shapes.push_back(shape);
  }
}

/// The operand X; in pass grad_input dY.
data::DenseOperand operand_x(const Options& options, const Layer& layer) {
  const bool back = options.pass == Pass::grad_input;
  return {back ? layer.s.rows : layer.s.columns,
          options.n,
          options.weights.dtype,
          {options.x, "x", options.weights.seed,
           back ? sparse::kGradientStream : sparse::kDenseStream}};
}

Layer make_layer(const Options& options, const MachineConfig& machine) {
  sparse::BlockMatrix s =
      sparse::make_weights(sparse::fitting(options.weights, options.n, machine));
  const std::uint32_t side = std::min(s.rows, s.columns);
  if (options.weights.block > side)
    throw KeyError("workload.block", "found {}, allowed up to {}: W is {} x {}",
                   options.weights.block, side, s.rows, s.columns);
  if (options.rank > side)
    throw KeyError("workload.rank", "found {}, allowed 0 to {}: W is {} x {}", options.rank, side,
                   s.rows, s.columns);
  require_room(options, std::uint64_t{s.rows} + s.columns, machine);
  if (s.blocks() == 0)
    throw KeyError(options.weights.matrix.empty() ? "workload.pattern" : "workload.matrix",
                   "found a mask without blocks, allowed one block of S or more");
  const std::uint32_t rows = s.rows;
  const std::uint32_t columns = s.columns;
  return {std::move(s), factor(options, rows, options.u, "u", sparse::kLeftStream),
          factor(options, columns, options.v, "v", sparse::kRightStream), options.gamma};
}

/// Facts for the report: blocks of S, parameters, and their ratio to a dense layer's.
nlohmann::ordered_json facts_of(const Options& options, const Layer& layer) {
  const double dense = static_cast<double>(layer.s.rows) * layer.s.columns;
  nlohmann::ordered_json facts;
  if (options.weights.matrix.empty() && options.weights.pattern == sparse::Pattern::butterfly) {
    const sparse::Butterfly mask = butterfly_of(options.weights);
    facts["butterfly_size"] = mask.size;
    facts["factors"] = mask.factors;
  }
  facts["blocks"] = layer.s.blocks();
  facts["kept_share"] = layer.s.kept_share();
  facts["parameters"] = layer.parameters();
  facts["compression"] = 1 - static_cast<double>(layer.parameters()) / dense;
  return facts;
}

std::string problem_of(const Options& options) {
  const std::string pass = options.pass == Pass::forward
                               ? ""
                               : fmt::format(" {}", config::name_of(kPasses, options.pass));
  const std::string gamma = options.gamma ? fmt::format(", gamma {}", *options.gamma) : "";
  return fmt::format("{}, rank {}{}, n {}{}", sparse::problem_of(options.weights), options.rank,
                     gamma, options.n, pass);
}

/// The workload of passes forward and grad_input.
class Pixelfly : public LayerWorkload {
 public:
  /// Throws as LayerWorkload(), and UserError if no plan fits.
  Pixelfly(const Options& options, const sparse::Shape& shape, MachineCosts& costs)
      : LayerWorkload(options, shape, costs),
        chain_(make_chain(layer_, options.pass, inner_block(shape_))),
        plan_(plan_chain(chain_, shape_, options.n, costs, options.plan)) {
    nlohmann::ordered_json plan;
    if (plan_.inner) plan["low_rank"] = config::resolved(pinned(*plan_.inner));
    plan["sparse"] = config::resolved(pinned(plan_.outer));
    plan["rounds"] = plan_.rounds;
    summarise_layer({.plan = std::move(plan),
                     .prediction = plan_.prediction,
                     .useful_flops = 2 * layer_.parameters() * options.n});
  }
  /// True if products of another form may be faster.
  [[nodiscard]] bool slower_than(const sparse::Shape& shape, MachineCosts& costs) const {
    return spmm_static::may_be_faster(shape, plan_.outer.partition, chain_.outer, costs);
  }

  [[nodiscard]] program::Program lowered() const override {
    const sparse::TileCode code;
    plan::Described of = describe_chain(plan_, chain_, shape_, &x_, code, contexts_);
    add_layer(of.description, layer_, shape_.type);
    of.description.tensor(
        data::tensor_of(options_.pass == Pass::forward ? "X" : "dY", x_, shape_.type));
    return plan::lower(of.description);
  }
  /// Checks Z and Y, each from the operands that the machine multiplied.
  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override {
    HostThreads threads(request.threads);
    const std::vector<float> y = tensors.floats(chain_.result, threads);
    std::vector<float> dense = kernels::rows_of(x_, threads);
    CheckResult inner{true, 0, 1, "full"};
    const std::size_t given = dense.size();
    dense.resize(std::size_t{round_up(static_cast<std::uint32_t>(x_.rows()), shape_.block)} *
                 options_.n);
    if (plan_.inner) {
      const std::vector<float> z = tensors.floats(chain_.low_rank, threads);
      inner =
          spmm_static::check_product({&plan_.inner->partition, 1}, {&chain_.inner, 1}, chain_.inner,
                                     {std::span(dense).first(given), options_.n}, z, request);
      if (!inner.passed) inner.problem += " (Y is Z here)";
      dense.insert(dense.end(), z.begin(), z.begin() + std::ptrdiff_t{layer_.rank()} * options_.n);
    }
    const sparse::BlockMatrix w = chain_.scaled_outer(shape_.type);
    return kernels::worse(inner, spmm_static::check_product({&plan_.outer.partition, 1}, {&w, 1}, w,
                                                            {dense, options_.n}, y, request));
  }

 private:
  Chain chain_;
  ChainPlan plan_;
};

}  // namespace

void describe(config::Fields& fields, Options& options) {
  describe(fields, options.weights);
  fields.field({"rank", "columns of U and V; 0: W is S alone"}, options.rank, {0, 1U << 16});
  fields.file({"u", data::file_sentence("U from a .npy file of shape [m, rank]")}, options.u);
  fields.file({"v", "V from a .npy file of shape [k, rank], as u"}, options.v);
  fields.field({"gamma",
                "W = gamma S + (1 - gamma) U V^T, multiplied out on the machine; gamma 1 removes "
                "the low-rank part, 0 removes S; null: W = S + U V^T"},
               options.gamma, {0, 1});
  fields.field({"n", "columns of X and Y: the batch"}, options.n, {1, 1U << 20});
  fields.field({"pass", "forward: Y = W X; grad_input: dX = W^T dY; grad_weights: dS, dU and dV"},
               options.pass, kPasses);
  fields.file({"x", "X from a .npy file of shape [k, n] (for grad_input dY, [m, n]), as u"},
              options.x);
  fields.file({"gradient", "dY of pass grad_weights from a .npy file of shape [m, n], as u"},
              options.gradient);
  fields.field({"partials", "type of partial sums for dtype f16"}, options.partials,
               data::kFloatTypes);
  fields.field({"layout", "layout of X and Y: blocked or by rows"}, options.layout,
               kernels::kLayouts);
  fields.group({"plan", "a pinned plan; the planner searches one if not given"}, options.plan);
  require_passes(fields, options);
}

std::vector<sparse::Shape> shapes_of(const Options& options, const MachineConfig& machine) {
  const sparse::WeightOptions& w = options.weights;
  const PinnedUnit unit = pinned_unit(options.plan);
  std::vector<sparse::Shape> shapes = sparse::make_shapes(
      w.block, w.dtype, options.partials, options.layout, machine, unit.form, unit.key);
  if (options.pass == Pass::grad_weights && unit.form == kernels::Form())
    add_depths(shapes, options, machine);
  return shapes;
}

LayerWorkload::LayerWorkload(const Options& options, const sparse::Shape& shape,
                             MachineCosts& costs)
    : options_(options),
      contexts_(costs.machine().tile.contexts),
      layer_(make_layer(options, costs.machine())),
      shape_(shape),
      x_(operand_x(options, layer_)) {}

void LayerWorkload::summarise_layer(WorkloadSummary summary) {
  summary.problem = problem_of(options_);
  summary.peak_type = kernels::type_name(shape_.type);
  summary.facts = facts_of(options_, layer_);
  summary.rounded.insert(summary.rounded.begin(), {{"matrix", layer_.s.rounded},
                                                   {"u", layer_.u.rounded()},
                                                   {"v", layer_.v.rounded()},
                                                   {"x", x_.rounded()}});
  summarise(std::move(summary));
}

std::unique_ptr<Workload> make_pixelfly(const Options& options, MachineCosts& costs) {
  if (options.pass == Pass::grad_weights && options.plan.rounds > 1)
    throw KeyError("workload.plan.rounds", "found {}, allowed 0 or 1 in pass grad_weights",
                   options.plan.rounds);
  if (options.pass == Pass::grad_weights) return make_weight_gradient(options, costs);
  return best_form<Pixelfly>(options, costs);
}

}  // namespace tessera::pixelfly
