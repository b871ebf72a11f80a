#include "kernels/spmm_dynamic/spmm_dynamic.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "kernels/pinned.h"
#include "kernels/sparse/operand/pattern.h"
#include "kernels/sparse/operand/sources.h"
#include "kernels/sparse/published/policy.h"
#include "kernels/spmm_dynamic/pricer.h"
#include "sim/base/errors.h"
#include "sim/config/writers.h"

namespace tessera::spmm_dynamic {

namespace {

constexpr config::Names<Pass, 3> kPasses{{{"forward", Pass::forward},
                                          {"grad_input", Pass::grad_input},
                                          {"grad_values", Pass::grad_values}}};
constexpr config::Names<Algorithm, 2> kAlgorithms{
    {{"published", Algorithm::published}, {"best", Algorithm::best}}};
constexpr config::Names<std::optional<Neighbours>, 4> kNeighbours{
    {{"chosen", std::nullopt},
     {"x", Neighbours::share_x},
     {"pools", Neighbours::share_pool},
     {"nothing", Neighbours::share_nothing}}};
constexpr config::Names<Region, 2> kRegions{{{"all", Region::all}, {"multiply", Region::multiply}}};

/// The multiplied matrix (W or W^T) of each seed.
std::vector<sparse::BlockMatrix> make_patterns(const Options& options,
                                               const MachineConfig& machine) {
  std::vector<sparse::BlockMatrix> patterns;
  for (std::uint32_t i = 0; i < options.patterns; ++i) {
    sparse::WeightOptions weights = sparse::fitting(options.weights, options.n, machine);
    weights.seed += i;
    patterns.push_back(sparse::make_weights(weights));
    if (options.pass == Pass::grad_input) patterns.back() = sparse::transposed(patterns.back());
  }
  return patterns;
}

std::uint64_t max_blocks(const Options& options, const sparse::BlockMatrix& w,
                         const std::vector<sparse::BlockMatrix>& patterns) {
  const std::uint64_t area = std::uint64_t{w.block} * w.block;
  if (options.max_nonzeros != 0) return ceil_div(options.max_nonzeros, area);
  const std::uint64_t places = std::uint64_t{w.block_rows()} * w.block_columns();
  if (options.max_density != 0) return sparse::share_of(places, options.max_density);
  std::uint64_t most = 0;
  for (const sparse::BlockMatrix& pattern : patterns) most = std::max(most, pattern.blocks());
  return most;
}

/// Candidate forms of the product; only one for gradients, which are not block products.
std::vector<Shape> shapes_of(const Options& options, std::uint32_t block,
                             const MachineConfig& machine) {
  const bool gradient = options.pass == Pass::grad_values;
  std::vector<Shape> shapes =
      sparse::make_shapes(gradient ? 1 : block, options.weights.dtype, options.partials,
                          options.layout, machine, options.plan.unit);
  for (Shape& shape : shapes) {
    shape.block = block;
    shape.gradient = gradient;
  }
  return shapes;
}

/// The problem with the first form of its product.
Problem problem_of(const Options& options, const std::vector<sparse::BlockMatrix>& patterns,
                   const MachineConfig& machine) {
  const sparse::BlockMatrix& w = patterns.front();
  Problem problem{};
  problem.shape = shapes_of(options, w.block, machine).front();
  problem.block_rows = w.block_rows();
  problem.block_columns = w.block_columns();
  problem.n = options.n;
  problem.max_blocks = max_blocks(options, w, patterns);
  problem.headroom = options.headroom;
  problem.memory = options.memory;
  if (options.plan.algorithm == Algorithm::published)
    problem.list_room = sparse::published::Policy::list_room();
  problem.transposed = options.pass == Pass::grad_input;
  problem.region = options.region;
  return problem;
}

void require_within(const sparse::BlockMatrix& w, std::size_t pattern, std::uint64_t most,
                    const Options& options) {
  if (w.blocks() <= most) return;
  const std::uint64_t area = std::uint64_t{w.block} * w.block;
  const bool counted = options.max_nonzeros != 0;
  throw KeyError(counted ? "workload.max_nonzeros" : "workload.max_density",
                 "pattern {} holds {} nonzeros in blocks of {} x {}, allowed {}", pattern,
                 w.blocks() * area, w.block, w.block, most * area);
}

std::string problem_text(const Options& options) {
  const std::string pass = options.pass == Pass::forward
                               ? ""
                               : fmt::format(" {}", config::name_of(kPasses, options.pass));
  return fmt::format("{}, n {}{}", sparse::problem_of(options.weights), options.n, pass);
}

/// Rejects further keys of a pinned plan that contradict its parts.
void require_printed(const Pinned& given, const nlohmann::ordered_json& plan) {
  const config::Json values = config::resolved(given);
  const config::Json chosen = config::resolved(Pinned{});
  for (const char* key : {"columns", "pairs", "max_blocks", "bucket_blocks", "pool_bytes"}) {
    const config::Json& value = values.at(key);
    if (value == chosen.at(key) || value == plan.at(key)) continue;
    throw KeyError(fmt::format("workload.plan.{}", key),
                   "found {}, allowed {}, which follows from the other keys", value.dump(),
                   plan.at(key).dump());
  }
}

}  // namespace

void describe(config::Fields& fields, Pinned& plan) {
  fields.field(
      {"algorithm",
       "published: planned for evenly distributed nonzeros and alternating products with W and "
       "W^T, as the published planner does; best: for this product and the given patterns"},
      plan.algorithm, kAlgorithms);
  fields.field({"x", "parts of the block rows of W; 0: chosen"}, plan.x);
  fields.field({"y", "parts of the block columns of W; 0: chosen"}, plan.y);
  fields.field({"z", "maximum number of parts of the columns of X; 0: chosen"}, plan.z);
  fields.field({"columns", "printed plans: columns of X per part, which follow from z"},
               plan.columns);
  fields.field({"pairs", "printed plans: operand that a pair of tiles shares"}, plan.pairs,
               kNeighbours);
  fields.field({"max_blocks", "printed plans: capacity in blocks of W"}, plan.max_blocks);
  fields.field({"bucket_blocks", "printed plans: capacity of a tile in blocks"},
               plan.bucket_blocks);
  fields.field({"pool_bytes", "printed plans: bytes of a pool's lists and values"},
               plan.pool_bytes);
  kernels::describe_unit(fields, plan.unit);
}

void describe(config::Fields& fields, Options& options) {
  sparse::describe(fields, options.weights);
  fields.field({"n", "columns of X and Y"}, options.n, {1, 1U << 20});
  fields.field(
      {"pass",
       "forward: Y = W X; grad_input: Xg = W^T Yg; grad_values: Wg = Yg X^T at the blocks of W"},
      options.pass, kPasses);
  fields.file(
      {"x", data::file_sentence("X from a .npy file of shape [k, n] (for grad_input Yg, [m, n])")},
      options.x);
  fields.file({"gradient", "Yg of pass grad_values from a .npy file of shape [m, n], as x"},
              options.gradient);
  fields.require(options.gradient.empty() || options.pass == Pass::grad_values, "gradient",
                 "is used by pass grad_values only, found {}",
                 config::name_of(kPasses, options.pass));
  fields.field({"partials", "type of partial sums for dtype f16"}, options.partials,
               data::kFloatTypes);
  fields.require(options.partials == program::Type::f32 ||
                     (options.weights.block > 1 && options.pass != Pass::grad_values),
                 "partials", "found f16, allowed f32 with block 1 and with pass grad_values");
  fields.field({"layout",
                "layout of X, Yg and Y: blocked: as the plan has them; natural: by rows in equal "
                "parts on all tiles"},
               options.layout, kernels::kLayouts);
  fields.field({"max_density",
                "capacity in blocks as a share of all blocks of W; 0: that of the fullest pattern"},
               options.max_density, {0.0, 1.0});
  fields.field({"max_nonzeros", "capacity in elements; 0: from max_density"}, options.max_nonzeros);
  fields.field({"headroom",
                "extra capacity of a tile's bucket, relative to an even share of the maximum "
                "number of nonzeros"},
               options.headroom, {0.0, 16.0});
  fields.field({"memory",
                "share of a tile's memory available to the plan; algorithm published takes all if "
                "nothing fits"},
               options.memory, {0.01, 1.0});
  fields.field({"patterns",
                "number of patterns that the program runs, one after the other, with seeds `seed` "
                "and up; seeded W only"},
               options.patterns, {1, 1024});
  fields.require(options.patterns == 1 || options.weights.matrix.empty(), "patterns",
                 "found {}, allowed 1 with a matrix file", options.patterns);
  fields.require(options.max_nonzeros == 0 || options.max_density == 0, "max_nonzeros",
                 "found beside max_density, allowed one of them");
  fields.field(
      {"region", "measured steps: all, or multiply: without distribution, clearing and sums"},
      options.region, kRegions);
  fields.group({"plan", "a pinned plan; the planner searches one if not given"}, options.plan);
}

SpmmDynamic::SpmmDynamic(const Options& options, MachineCosts& costs)
    : options_(options),
      tiles_(costs.machine().tiles),
      patterns_(make_patterns(options, costs.machine())),
      x_(patterns_.front().columns, options.n, options.weights.dtype,
         {options.x, "x", options.weights.seed, sparse::kDenseStream}),
      yg_(patterns_.front().rows, options.n, options.weights.dtype,
          {options.gradient, "gradient", options.weights.seed, sparse::kGradientStream}),
      problem_(problem_of(options, patterns_, costs.machine())) {
  for (std::size_t i = 0; i < patterns_.size(); ++i)
    require_within(patterns_[i], i, problem_.max_blocks, options_);
  const Prediction prediction = choose(costs);
  const nlohmann::ordered_json plan = config::resolved(printed());
  require_printed(options.plan, plan);
  std::uint64_t nonzeros = 0;
  for (const sparse::BlockMatrix& w : patterns_) nonzeros += w.nonzeros;
  const sparse::Shape& shape = problem_.shape;
  const sparse::BlockMatrix& first = patterns_.front();
  summarise(
      {.problem = problem_text(options),
       .peak_type = shape.in_blocks() ? kernels::type_name(shape.type, shape.partials)
                                      : kernels::type_name(shape.type),
       .plan = plan,
       .prediction = prediction,
       .facts = {{"blocks", first.blocks()}, {"kept_share", first.kept_share()}},
       .rounded = {{"matrix", first.rounded}, {"x", x_.rounded()}, {"gradient", yg_.rounded()}},
       .useful_flops = 2 * nonzeros * options.n,
       .runs = static_cast<std::uint32_t>(patterns_.size())});
}

Prediction SpmmDynamic::choose(MachineCosts& costs) {
  std::optional<Prediction> best;
  std::uint64_t bound = 0;  // bound of the best plan
  for (const Shape& shape : shapes_of(options_, patterns_.front().block, costs.machine())) {
    Problem whole = problem_;
    whole.shape.unit = shape.unit;
    whole.region = Region::all;
    Pricer pricer(whole.shape, costs);
    // On the best plan's grid another form differs in its products only. Skips a form whose bound
    // there is over a quarter higher; with another grid it might otherwise be better.
    if (best) {
      const auto pool = pricer.pool(whole, plan_.pool.grid);
      if (!pool || pricer.bound(whole, *pool, packings_.front().load) > bound + bound / 4) continue;
    }
    const Plan plan = make_plan(whole, options_.plan, pricer, patterns_);
    Problem problem = whole;
    problem.region = problem_.region;
    std::vector<Packing> packings;
    Prediction prediction;
    for (const sparse::BlockMatrix& w : patterns_) {
      packings.push_back(pack(w, plan.pool));
      prediction += pricer.predict(problem, plan.pool, w, packings.back());
    }
    if (best && prediction.cycles >= best->cycles) continue;
    best = prediction;
    problem_ = problem;
    plan_ = plan;
    packings_ = std::move(packings);
    bound = pricer.bound(whole, plan.pool, packings_.front().load);
  }
  return *best;
}

Pinned SpmmDynamic::printed() const {
  const Grid& grid = plan_.pool.grid;
  const Buffers bytes(problem_, plan_.pool);
  return {options_.plan.algorithm,
          grid.x,
          grid.y,
          grid.z,
          grid.columns,
          problem_.max_blocks,
          plan_.bucket_blocks,
          bytes.pool,
          grid.neighbours,
          problem_.shape.in_blocks() ? problem_.shape.unit.form() : kernels::Form()};
}

nlohmann::ordered_json SpmmDynamic::run_facts(std::uint32_t run) const {
  const Packing& packing = packings_[run];
  const Grid& grid = plan_.pool.grid;
  const auto part = [](std::uint64_t some, std::uint64_t all) {
    return all == 0 ? 0.0 : static_cast<double>(some) / static_cast<double>(all);
  };
  std::uint32_t units = 0;
  for (const Pool& pool : packing.pools) units = std::max(units, pool.units);
  return {{"nonzeros", patterns_[run].nonzeros},
          {"imbalance", part(packing.most_blocks * grid.partitions(), packing.blocks)},
          {"fullest_pool", part(units, plan_.pool.units)},
          {"spilled", part(packing.spilled_blocks, packing.blocks)},
          {"y_steps", packing.load.y_steps},
          {"x_steps", packing.load.x_steps}};
}

}  // namespace tessera::spmm_dynamic
