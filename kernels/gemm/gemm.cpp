#include "kernels/gemm/gemm.h"

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/config/writers.h"
#include "sim/data/element.h"
#include "sim/data/read_file.h"
#include "sim/plan/lower.h"

namespace tessera::gemm {

namespace {

Problem problem_of(const Options& options, const MachineConfig& machine) {
  return {.product = options.product,
          .dtype = options.dtype,
          .any_partials = options.dtype == Type::f16 && !options.partials,
          .partials = options.partials.value_or(options.dtype),
          .layout = options.layout,
          .unit = machine.tile.matrix_unit,
          .outside = options.external};
}

/// Bytes of A, B and C.
std::uint64_t bytes_of(const Problem& problem) {
  const auto [m, n, k] = problem.product;
  return (std::uint64_t{m} * k + std::uint64_t{k} * n + std::uint64_t{m} * n) *
         data::element_bytes(problem.dtype);
}

Candidate plan_for(const Options& options, MachineCosts& costs) {
  kernels::require_partials(options.dtype, options.partials);
  const Problem problem = problem_of(options, costs.machine());
  if (problem.outside) kernels::require_external(costs.machine(), "A, B and C", bytes_of(problem));
  if (!options.plan) return choose_plan(problem, costs);
  if (!problem.any_partials && options.plan->partials != problem.partials) {
    throw KeyError("workload.plan.partials",
                   "found {}, allowed {}, given by workload.partials or dtype",
                   config::name_of(data::kFloatTypes, options.plan->partials),
                   config::name_of(data::kFloatTypes, problem.partials));
  }
  return pinned_plan(*options.plan, problem, costs);
}

Operand operand(const Options& options, const std::string& file, const char* key,
                std::uint64_t stream) {
  const Product& p = options.product;
  const std::uint64_t rows = stream == 0 ? p.m : p.k;
  const std::uint64_t columns = stream == 0 ? p.k : p.n;
  return {rows, columns, options.dtype, {file, key, options.seed, stream}};
}

std::string problem_text(const Options& options) {
  const Product& p = options.product;
  std::string text =
      fmt::format("{}x{}x{} {}", p.m, p.n, p.k, config::name_of(data::kFloatTypes, options.dtype));
  for (const std::string& file : {options.a, options.b})
    if (!file.empty()) text += " " + data::file_name(file);
  return text;
}

/// Describes the pinned plan; for f16 and f32 if `type` is null.
void describe_plan(config::Fields& fields, Options& options, const VectorType* type) {
  constexpr config::Field kPlan{
      "plan",
      "a pinned plan, with other keys for i8, i16 and bf16; the planner searches one if not given"};
  if (type != nullptr) return fields.optional_group(kPlan, options.vectors);
  bool pinned = options.plan.has_value();
  Plan plan = options.plan.value_or(Plan{});
  FloatPlan<Plan, VectorPlan> tiles{plan, "split_m"};
  fields.optional_group(kPlan, pinned, tiles);
  options.plan = pinned ? std::optional(plan) : std::nullopt;
}

/// Describes keys of vector types, and refuses keys that these lack.
void describe_vectors(config::Fields& fields, Options& options, const VectorType* type) {
  describe_shift(fields, options.shift, type);
  if (type == nullptr) return;
  const auto require = [&](bool holds, const char* key, const char* sentence) {
    fields.require(holds, key, "{} with dtype {}", sentence, type->name);
  };
  require(!options.partials, "partials", "found a type, allowed auto");
  require(!options.external, "operands", "found external, allowed tiles (on arrays that is DDR)");
  require(options.layout == Layout::blocked, "layout", "found natural, allowed blocked");
  require(options.a.empty(), "a", "found a file, allowed none");
  require(options.b.empty(), "b", "found a file, allowed none");
}

std::unique_ptr<Workload> make_vector_gemm(const Options& options, MachineCosts& costs) {
  const Product& p = options.product;
  const VectorType& type = *vector_type(options.dtype);
  const PricedProduct chosen = vector_plan(options.vectors.value_or(VectorPlan{}), p, type, costs);
  const std::uint32_t largest = largest_for(type, p.k, options.shift);
  const VectorOperand b(type, p.n, largest, options.seed, 1);
  RowReader rows = [b](std::uint32_t row, std::span<float> into) { b.read(row, into); };
  return std::make_unique<VectorWorkload>(
      VectorProduct{p,
                    VectorGrid(p, type, chosen.plan),
                    options.shift,
                    {type, p.k, largest, options.seed, 0},
                    b},
      chosen, costs.machine(), [rows] { return rows; }, std::uint64_t{2} * p.m * p.n * p.k,
      WorkloadSummary{.problem = problem_text(type, p), .facts = {{"binds", chosen.binds}}});
}

constexpr std::uint64_t kSignStream = 3;         // random stream
constexpr std::uint64_t kMostHeld = 1ULL << 30;  // elements of A and B, in float

/// Converts a dense row to terms, zeros included.
void to_terms(std::span<const float> row, std::vector<kernels::Term>& terms) {
  terms.clear();
  terms.reserve(row.size());
  for (const float weight : row)
    terms.push_back({static_cast<std::uint32_t>(terms.size()), weight});
}

}  // namespace

void describe(config::Fields& fields, Options& options) {
  constexpr config::Range<std::uint32_t> kSize{1, 1U << 24};
  fields.field({"m", "rows of A and C"}, options.product.m, kSize);
  fields.field({"n", "columns of B and C"}, options.product.n, kSize);
  fields.field({"k", "columns of A, rows of B"}, options.product.k, kSize);
  fields.field({"dtype",
                "type of A, B and C: f16 or f32, except on arrays of cores with memory tiles; i8, "
                "i16 or bf16 if the matrix unit supports them"},
               options.dtype, kElementTypes);
  fields.field({"partials", "type of partial sums for f16; auto: the planner chooses"},
               options.partials, kernels::kPartials);
  fields.field({"layout", "layout of A, B and C: blocked or by rows"}, options.layout,
               kernels::kLayouts);
  fields.field({"operands", "location of A, B and C: tile SRAM, or external memory"},
               options.external, kernels::kOperandPlaces);
  fields.require(!options.external || options.layout == Layout::blocked, "layout",
                 "found natural, allowed blocked with operands external");
  fields.file({"a", data::file_sentence("A from a .npy file of shape [m, k]")}, options.a);
  fields.file({"b", "B from a .npy file of shape [k, n], as a"}, options.b);
  fields.field({"seed", "seed of the values"}, options.seed);
  const VectorType* const type = vector_type(options.dtype);
  describe_plan(fields, options, type);
  describe_vectors(fields, options, type);
}

Gemm::Gemm(const Options& options, MachineCosts& costs)
    : options_(options),
      machine_(costs.machine()),
      chosen_(plan_for(options, costs)),
      grid_(problem_of(options, costs.machine()), chosen_.plan),
      geometry_(grid_.problem(), chosen_.plan),
      a_(operand(options, options.a, "a", 0)),
      b_(operand(options, options.b, "b", 1)) {
  const Product& p = options.product;
  summarise({.problem = problem_text(options),
             // The peak of the matrix unit operation that the plan uses.
             .peak_type = kernels::type_name(options.dtype, chosen_.plan.partials),
             .plan = config::resolved(chosen_.plan),
             .prediction = chosen_.prediction,
             .rounded = {{"a", a_.rounded()}, {"b", b_.rounded()}},
             .useful_flops = std::uint64_t{2} * p.m * p.n * p.k});
}

program::Program Gemm::lowered() const {
  return plan::lower(described(problem_of(options_, machine_), chosen_.plan, machine_,
                               elf::KernelCode("gemm"), &a_, &b_)
                         .description);
}

std::unique_ptr<Workload> make_gemm(const Options& options, MachineCosts& costs) {
  if (vector_type_on(costs.machine(), options.dtype) != nullptr)
    return make_vector_gemm(options, costs);
  return std::make_unique<Gemm>(options, costs);
}

/// Compares every element in double and bit by bit, or signed sums of rows and columns; in both
/// cases one block per tile bit by bit. If the operands are too large for the host, A is
/// regenerated row by row, and sums are of rows only.
CheckResult Gemm::check(const TensorReader& tensors, const CheckRequest& request) const {
  const Product& p = options_.product;
  HostThreads threads(request.threads);
  const bool held = (std::uint64_t{p.m} + p.n) * p.k <= kMostHeld;
  const std::vector<float> a = held ? kernels::rows_of(a_, threads) : std::vector<float>{};
  const std::vector<float> b = kernels::rows_of(b_, threads);
  const std::vector<float> c = tensors.floats("C", threads);
  const auto row_of_a = [&](std::uint64_t row, std::vector<float>& scratch) {
    if (held) return std::span(a).subspan(row * p.k, p.k);
    scratch.resize(p.k);
    a_.read_row(row, scratch);
    return std::span<const float>(scratch);
  };
  const BitExact exact(geometry_, p, b, grid_);
  const BlockShape& block = geometry_.block();
  const kernels::Product product{
      p.m,
      p.k,
      p.n,
      b,
      c,
      kernels::rounding_of(block.input, block.partial,
                           block.partial == Type::f16 && block.on_unit() ? block.depth : 1,
                           geometry_.plan().split_k),
      [&](std::uint64_t row, std::vector<kernels::Term>& terms) {
        std::vector<float> scratch;
        to_terms(row_of_a(row, scratch), terms);
      },
      [&](std::uint64_t row, Interval columns, std::span<float> into) {
        std::vector<float> scratch;
        exact.row(row, row_of_a(row, scratch), columns, into);
      },
      a};
  kernels::Checked checked = kernels::row_check(
      product, {"C", block.input, block.partial},
      {request.seed, kSignStream, kernels::segment_length(product.rounding, product.depth)});
  checked.flops = useful_flops();
  checked.most_suspects = 4096;
  checked.whole_lines = false;
  for (std::uint32_t tile = 0; tile < geometry_.tiles(); ++tile)
    checked.exact_strips.push_back({tile, {}});
  checked.compare_exact = [&](std::span<const kernels::Strip> tiles, kernels::Comparison& into) {
    for (const kernels::Strip& tile : tiles)
      exact.compare(exact.chosen(word(tile.line), request.seed), row_of_a, c, into);
  };
  return kernels::check(checked, request, threads);
}

}  // namespace tessera::gemm
