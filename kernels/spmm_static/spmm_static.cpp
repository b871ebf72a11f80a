#include "kernels/spmm_static/spmm_static.h"

#include <algorithm>

#include "kernels/sparse/operand/sources.h"
#include "kernels/spmm_static/program.h"
#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/config/writers.h"
#include "sim/data/element.h"
#include "sim/plan/lower.h"
#include "sim/plan/search.h"

namespace tessera::spmm_static {

namespace {

constexpr config::Names<Region, 3> kRegions{
    {{"all", Region::all}, {"multiply", Region::multiply}, {"add", Region::add}}};

std::vector<sparse::Shape> shapes_of(const Options& options, const MachineConfig& machine) {
  const sparse::WeightOptions& w = options.weights;
  return sparse::make_shapes(w.block, w.dtype, options.partials, options.layout, machine,
                             options.plan.unit);
}

const sparse::BlockMatrix& checked(const sparse::BlockMatrix& w, const Options& options,
                                   const MachineConfig& machine) {
  const auto [side, n] = std::pair(std::uint64_t{w.block}, options.n);
  if (options.external)
    kernels::require_external(machine, "W, X and Y",
                              (w.blocks() * side * side + (std::uint64_t{w.rows} + w.columns) * n) *
                                  data::element_bytes(options.weights.dtype));
  else
    kernels::require_rounds(false, options.plan.rounds.has_value());
  return w;
}

/// Keys of types with vectors; rejects keys that these lack.
void describe_vectors(config::Fields& fields, Options& options, const gemm::VectorType* type) {
  gemm::describe_shift(fields, options.shift, type);
  constexpr config::Field kPlan{
      "plan",
      "a pinned plan, with other keys for i8, i16 and bf16; the planner searches one if not given"};
  if (type == nullptr) {
    gemm::FloatPlan<Pinned, gemm::KeptPlan> tiles{options.plan, "algorithm"};
    fields.group(kPlan, tiles);
    return;
  }
  fields.optional_group(kPlan, options.vectors);
  const auto require = [&](bool holds, const char* key, const char* sentence) {
    fields.require(holds, key, "{} with dtype {}", sentence, type->name);
  };
  fields.require_read(false, "partials", "found a type, allowed none with dtype {}", type->name);
  require(!options.external, "operands", "found external, allowed tiles (on arrays that is DDR)");
  require(options.layout == kernels::Layout::blocked, "layout", "found natural, allowed blocked");
  require(options.region == Region::all, "region", "found a part, allowed all");
  require(options.x.empty(), "x", "found a file, allowed none");
}

/// Products of one row that are summed before rounding to the type of partials.
std::uint32_t depth_of(const sparse::Shape& shape) {
  if (shape.block == 1) return shape.mixed() ? 2 : 1;
  return shape.summed();
}

/// The partial rows of each layer's block rows, in the order of its shares.
std::vector<std::vector<sparse::PartialSums>> partial_rows(const Partition& partition) {
  std::vector<std::vector<sparse::PartialSums>> all;
  for (const Layer& layer : partition.layers) {
    std::vector<sparse::PartialSums>& rows = all.emplace_back(partition.block_rows);
    for (const Share& share : layer.shares)
      for (const RowRun& run : share.rows)
        rows[run.row].push_back(slice(partition.deal.source, run.first, run.last));
  }
  return all;
}

/// Each tile adds the blocks of its share of a row in order; the tile that sums the partial rows
/// adds them in the order of the shares.
kernels::ExactRow exact_row(const Partition& partition, const sparse::BlockMatrix& w,
                            const sparse::DenseRows& x) {
  sparse::SumOrder order{{}, partial_rows(partition)};
  for (std::uint32_t round = 0; round < x.n; round += partition.columns)
    for (const Part& part : partition.parts)
      order.columns.push_back({round + part.begin, round + part.end, part.layer});
  return sparse::exact_row(w, x, partition.shape, std::move(order));
}

/// The roundings of a result, for the most partial rows.
kernels::Rounding rounding_of(std::span<const Partition> partitions) {
  std::size_t most = 1;
  for (const Partition& partition : partitions)
    for (const auto& rows : partial_rows(partition))
      for (const sparse::PartialSums& row : rows) most = std::max(most, row.size());
  const sparse::Shape& shape = partitions.front().shape;
  return kernels::rounding_of(shape.type, shape.partials, depth_of(shape), word(most));
}

}  // namespace

void describe(config::Fields& fields, Options& options) {
  describe(fields, options.weights, sparse::ElementTypes::with_vectors);
  fields.field({"n", "columns of X and Y"}, options.n, {1, 1u << 20});
  fields.file({"x", data::file_sentence("X from a .npy file of shape [k, n]")}, options.x);
  fields.field({"partials", "type of partial sums for dtype f16"}, options.partials,
               data::kFloatTypes);
  fields.field({"layout", "layout of X and Y: blocked or by rows"}, options.layout,
               kernels::kLayouts);
  fields.field(
      {"operands", "location of the values of W, of X and of Y: tile SRAM, or external memory"},
      options.external, kernels::kOperandPlaces);
  fields.require(!options.external || options.layout == kernels::Layout::blocked, "layout",
                 "found natural, allowed blocked with operands external");
  fields.field({"region",
                "measured steps: all, the product on the tiles alone, or the addition of partial "
                "rows alone"},
               options.region, kRegions);
  fields.require(!options.external || options.region == Region::all, "region",
                 "found a part, allowed all with operands external");
  describe_vectors(fields, options, gemm::vector_type(options.weights.dtype));
}

SpmmStatic::SpmmStatic(Options options, MachineCosts& costs)
    : options_(std::move(options)),
      contexts_(costs.machine().tile.contexts),
      w_(sparse::make_weights(
          sparse::fitting(options_.weights, options_.external ? 0 : options_.n, costs.machine()))),
      x_(w_.columns, options_.n, options_.weights.dtype,
         {options_.x, "x", options_.weights.seed, sparse::kDenseStream}) {
  Plan plan = choose_plan(checked(w_, options_, costs.machine()),
                          shapes_of(options_, costs.machine()), options_.n, costs, options_.plan,
                          {.schedules = true, .outside = options_.external});
  if (!plan.misfit.empty()) throw UserError(plan.misfit);
  // The plan is chosen for the whole product; the prediction is for the measured part alone.
  if (options_.region != Region::all) {
    plan::Pricing pricing(costs);
    const sparse::TileCode code;
    const auto part =
        describe_program(plan.partition, w_, nullptr, code, contexts_, options_.region);
    plan.prediction = plan::priced(part, true, pricing).prediction;
  }
  const std::uint64_t multiplied = options_.region == Region::add ? 0 : w_.nonzeros;
  summarise({.problem = fmt::format("{}, n {}", sparse::problem_of(options_.weights), options_.n),
             .peak_type = kernels::type_name(options_.weights.dtype),
             .plan = config::resolved(pinned(plan)),
             .prediction = plan.prediction,
             .facts = {{"blocks", w_.blocks()}, {"kept_share", w_.kept_share()}},
             .rounded = {{"matrix", w_.rounded}, {"x", x_.rounded()}},
             .useful_flops = 2 * multiplied * options_.n});
  if (!plan.below.empty()) parts_ = sparse::row_parts(w_, plan.partition.cuts.row_parts);
  partitions_.push_back(std::move(plan.partition));
  std::ranges::move(plan.below, std::back_inserter(partitions_));
}

program::Program SpmmStatic::lowered() const {
  const sparse::TileCode code;
  if (!options_.external)
    return plan::lower(
        describe_program(partitions_.front(), w_, &x_, code, contexts_, options_.region)
            .description);
  const auto parts = parts_.empty() ? std::span<const sparse::BlockMatrix>(&w_, 1) : parts_;
  return plan::lower(describe_rounds(partitions_, parts, w_, &x_, code, contexts_).description);
}

CheckResult check_product(std::span<const Partition> partitions,
                          std::span<const sparse::BlockMatrix> parts, const sparse::BlockMatrix& w,
                          const sparse::DenseRows& x, std::span<const float> y,
                          const CheckRequest& request) {
  std::vector<kernels::ExactRow> exact;
  for (std::size_t i = 0; i < parts.size(); ++i)
    exact.push_back(exact_row(partitions[i], parts[i], x));
  return sparse::check_product(w, x, y, rounding_of(partitions), request,
                               [&](std::uint64_t row, Interval columns, std::span<float> made) {
                                 std::size_t part = 0;
                                 for (; row >= parts[part].rows; ++part) row -= parts[part].rows;
                                 exact[part](row, columns, made);
                               });
}

CheckResult SpmmStatic::check(const TensorReader& tensors, const CheckRequest& request) const {
  HostThreads threads(request.threads);
  return check_product(
      partitions_, parts_.empty() ? std::span<const sparse::BlockMatrix>(&w_, 1) : parts_, w_,
      {kernels::rows_of(x_, threads), options_.n}, tensors.floats("Y", threads), request);
}

}  // namespace tessera::spmm_static
