#include "kernels/butterfly/butterfly.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/errors.h"
#include "sim/data/element.h"

namespace tessera::butterfly {

namespace {

constexpr std::uint64_t kXStream = 0;
constexpr std::uint64_t kGradientStream = 1;

data::DenseOperand operand(const Options& options, const std::string& file, const char* key,
                           std::uint64_t stream) {
  const Problem& p = options.problem;
  const std::uint64_t columns = std::uint64_t{p.n} * (p.is_complex() ? 2 : 1);
  return {p.features, columns, p.type(), {file, key, options.seed, stream, p.is_complex()}};
}

std::vector<Problem> forms_of(const Options& options, const MachineConfig& machine) {
  const Problem& of = options.problem;
  const MatrixUnitConfig& unit = machine.tile.matrix_unit;
  const program::Type sums = of.type() == program::Type::f16 ? of.partials : program::Type::f32;
  const auto shapes = [&](program::Type partials, const kernels::Form& pinned, const char* key) {
    return kernels::block_shapes_within(of.block, unit, of.type(), partials, pinned, key);
  };
  const Plan pinned = options.plan.value_or(Plan());
  const bool has_outer = of.blocked() && of.pass == Pass::grad_twiddles;
  if (!has_outer && pinned.outer_unit != kernels::Form())
    throw KeyError("workload.plan.outer_unit",
                   "found {}, allowed auto except with blocks and pass grad_twiddles",
                   config::name_of(kernels::kForms, pinned.outer_unit));
  std::vector<Problem> forms;
  for (const kernels::BlockShape& shape : shapes(sums, pinned.unit, "workload.plan.unit")) {
    forms.push_back(of);
    forms.back().shape = shape;
  }
  if (!of.blocked()) return {forms.front()};
  if (!has_outer) return forms;
  std::vector<Problem> both;
  for (const Problem& form : forms)
    for (const kernels::BlockShape& outer :
         shapes(program::Type::f32, pinned.outer_unit, "workload.plan.outer_unit")) {
      both.push_back(form);
      both.back().outer = outer;
    }
  return both;
}

Twiddles twiddles(const Options& options) {
  if (options.twiddles.empty()) return {options.problem, options.seed};
  return {options.problem, options.twiddles};
}

nlohmann::ordered_json facts_of(const Problem& p) {
  const std::uint64_t parameters = std::uint64_t{p.stages()} * p.pairs() * p.twiddle_parameters();
  const auto dense =
      static_cast<double>(std::uint64_t{p.features} * p.features * (p.is_complex() ? 2 : 1));
  return {{"parameters", parameters}, {"compression", 1 - static_cast<double>(parameters) / dense}};
}

/// Per pair of real numbers four multiplications and two additions; complex 16 and 12. The gradient
/// of twiddles passes all factors but one forward and backward, and multiplies and adds once for
/// each of four elements.
std::uint64_t flops_of(const Problem& p) {
  const std::uint64_t pairs = std::uint64_t{p.pairs()} * p.n;
  if (p.blocked()) {
    const std::uint64_t products = p.pass == Pass::grad_twiddles ? 3 * p.stages() - 2 : p.stages();
    return products * pairs * 8 * p.block * p.block;
  }
  const std::uint64_t real = p.is_complex() && !p.complex_code() ? 2 : 1;
  const std::uint64_t factor = p.complex_code() ? 28 : 6 * real;
  const std::uint64_t outer = p.complex_code() ? 32 : 8 * real;
  if (p.pass != Pass::grad_twiddles) return p.stages() * pairs * factor;
  return pairs * (std::uint64_t{2} * (p.stages() - 1) * factor + p.stages() * outer);
}

}  // namespace

void describe(config::Fields& fields, Options& options) {
  Problem& problem = options.problem;
  fields.field({"features", "rows of X and Y: a power of two"}, problem.features, {2, 1U << 24});
  fields.require(std::has_single_bit(problem.features), "features",
                 "found {}, allowed a power of two", problem.features);
  fields.field({"block",
                "rows and columns of the blocks in a factor's 2x2 twiddles, multiplied on the "
                "matrix unit if there is one; 1: scalar twiddles"},
               problem.block, {1, 1U << 23});
  fields.require(std::has_single_bit(problem.block) && problem.block <= problem.features / 2,
                 "block", "found {}, allowed a power of two up to {}, half of the features",
                 problem.block, problem.features / 2);
  fields.field({"n", "columns of X and Y"}, problem.n, {1, 1U << 24});
  fields.field({"dtype", "type of X, Y and free twiddles"}, problem.dtype, kNumbers);
  fields.field(
      {"parameters",
       "parameters of a 2x2 twiddle [[a, b], [c, d]]: its four elements (free), or one angle t in "
       "radians (rotation), stored as cosine and sine: [[cos t, -sin t], [sin t, cos t]]. It maps "
       "feature p and the feature q one stride behind it to a p + b q and c p + d q"},
      problem.parameters, kParameters);
  fields.field({"order",
                "the stride, in blocks of features, doubles from 1 with each factor (increasing), "
                "or halves from half of them (decreasing)"},
               problem.order, kOrders);
  fields.field({"pass",
                "forward: Y = F X; grad_input: Xg = F^H Yg; grad_twiddles: gradient of every "
                "twiddle, summed over columns"},
               problem.pass, kPasses);
  fields.field(
      {"layout",
       "planned: X, Y and twiddles are laid out as the plan wants; blocked: one copy in equal "
       "contiguous parts over all tiles, in order of features, and re-layout is measured"},
      problem.layout, kLayouts);
  fields.require(
      !problem.blocked() || (problem.parameters == Parameters::free && !problem.is_complex()),
      "block", "found {}, allowed 1 with rotations and complex numbers", problem.block);
  fields.field({"partials", "type of sums in blocks for dtype f16; gradients of twiddles are f32"},
               problem.partials, data::kFloatTypes);
  fields.require(problem.partials == program::Type::f16 || problem.blocked(), "partials",
                 "found f32, allowed f16 with block 1: its factors have no separate sums");
  fields.file(
      {"x", data::file_sentence("X (for grad_input Yg) from a .npy file of shape [features, n]; "
                                "complex numbers: complex64 or shape [features, 2 n]")},
      options.x);
  fields.file({"gradient", "Yg of pass grad_twiddles, as x"}, options.gradient);
  fields.require(options.gradient.empty() || problem.pass == Pass::grad_twiddles, "gradient",
                 "is used by pass grad_twiddles only, found {}",
                 config::name_of(kPasses, problem.pass));
  fields.file({"twiddles",
               "twiddles from a .npy file of shape [stages, features / 2, 2, 2]; complex numbers "
               "[..., 2, 2, 2]; blocks [stages, features / (2 block), 2, 2, block, block]; angles "
               "(f32) [stages, features / 2]; stage 0 is applied first, pairs in order of their "
               "first feature. Rounded like x; seeded values if not given"},
              options.twiddles);
  fields.field({"seed", "seed of the values"}, options.seed);
  kernels::describe_plan(fields, options.plan);
}

Subject::Subject(const Options& given, const MachineConfig& on)
    : options(given),
      machine(on),
      forms(forms_of(given, on)),
      operands{operand(given, given.x, "x", kXStream),
               operand(given, given.gradient, "gradient", kGradientStream), twiddles(given)} {}

Geometry Subject::geometry(const Plan& plan) const {
  const auto form = std::ranges::find_if(forms, [&](const Problem& of) {
    return (!of.blocked() || of.shape.form() == plan.unit) &&
           (of.outer.depth == 0 || of.outer.form() == plan.outer_unit);
  });
  return {*form, plan};
}

std::string text(const Subject& subject) {
  const Problem& p = subject.problem();
  const std::string blocks = p.blocked() ? fmt::format(" in blocks of {}", p.block) : "";
  const std::string pass =
      p.pass == Pass::forward ? "" : fmt::format(" {}", config::name_of(kPasses, p.pass));
  return fmt::format("{} features{}, n {} {}{}", p.features, blocks, p.n,
                     config::name_of(kNumbers, p.dtype), pass);
}

plan::Described described(const std::shared_ptr<const Subject>& subject, const Plan& plan) {
  const Problem& p = subject->problem();
  const Operands& operands = subject->operands;
  const Geometry geometry = subject->geometry(plan);
  plan::Described made(describe_program(geometry, subject->machine, subject->codes, &operands),
                       representatives(geometry));
  const auto given = [&](const char* name, const data::DenseOperand& of) {
    made.description.tensor(data::tensor_of(name, of, p.type(), p.is_complex()));
  };
  given(p.pass == Pass::grad_input ? "Yg" : "X", operands.x);
  if (p.pass == Pass::grad_twiddles) given("Yg", operands.gradient);
  program::Tensor all{"twiddles", program::Role::weights, p.twiddle_type(), twiddle_shape(p),
                      p.complex_code()};
  all.given = data::elements_by(p.twiddle_type(), [subject](std::uint64_t i) {
    return subject->operands.twiddles.file_value(i);
  });
  made.description.tensor(std::move(all));
  return made;
}

WorkloadSummary summary(const Subject& subject, const Plan& /*plan*/) {
  const Operands& operands = subject.operands;
  return {.peak_type = subject.problem().dtype == Number::f16 ? "f16" : "f32",
          .facts = facts_of(subject.problem()),
          .rounded = {{"x", operands.x.rounded()},
                      {"gradient", operands.gradient.rounded()},
                      {"twiddles", operands.twiddles.rounded()}},
          .useful_flops = flops_of(subject.problem())};
}

Kernel kernel() {
  return kernels::planned_kernel<Subject>("butterfly",
                                          "product of butterfly factors, and its gradients");
}

}  // namespace tessera::butterfly
