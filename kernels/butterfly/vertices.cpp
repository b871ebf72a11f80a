#include "kernels/butterfly/vertices.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

namespace tessera::butterfly {

using plan::Sizes;
using Arrays = std::span<const Place>;

namespace {

/// A pass has one number of units on nearly all tiles of a plan: it is measured, not fitted.
constexpr FittedCost::Axis kMeasured = FittedCost::Axis::measured();

}  // namespace

std::string Functions::number_name() const {
  if (problem_.complex_code()) return "complex";
  return std::string(
      config::name_of(kNumbers, problem_.is_complex() ? Number::f32 : problem_.dtype));
}

/// Groups and runs are divided among workers.
const plan::Function& Functions::of_rows(const std::string& what, const std::string& codelet,
                                         const RowPass& pass, const FirstOperand& first) {
  const auto vertex = [code = this->codelet(codelet), p = problem_, workers_n = workers_n_, pass,
                       first](const Sizes& sizes, Arrays at) {
    const std::uint64_t row = sizes[0] * p.unit_bytes();
    const std::uint32_t unit = p.step_bytes();
    const std::uint32_t low = std::min(pass.first_place(p), pass.last_place(p));
    const std::uint32_t between = 1U << low;
    const std::uint32_t jump = ((1U << pass.stages.size()) - 1) << low;
    kernels::Arguments arguments{Place{at[1].buffer},
                                 Place{at[2].buffer},
                                 word(row << pass.first_place(p)),
                                 word(row << pass.last_place(p)),
                                 between,
                                 word(row * jump),
                                 word(row),
                                 0U};
    const EvenSplit runs{row / unit, workers_n};
    const EvenSplit groups{pass.groups(), code.contexts / workers_n};
    for (std::uint32_t w = 0; w < code.contexts; ++w) {
      const std::uint32_t part = w % workers_n;
      const Interval run = runs.part(part);
      const Interval mine = groups.part(w / workers_n);
      const bool idle = mine.size() == 0 || run.size() == 0;
      const std::uint32_t group = idle ? 0 : word(mine.begin);
      arguments.insert(
          arguments.end(),
          {word(pass.first_row(p, group) * row + (idle ? 0 : run.begin * unit)),
           kernels::behind(at[0], idle ? 0 : group * first.group_bytes + part * first.array_bytes),
           idle ? 0U : word(mine.size()), word(run.size()) - 1, between - group % between, 0U, 0U,
           0U});
    }
    return code.all(std::move(arguments));
  };
  return description_.function(
      {fmt::format("butterfly {} {} {} {} of {} rows, bits {} to {}, by {}, array of {}", what,
                   config::name_of(kNumbers, problem_.dtype),
                   config::name_of(kParameters, problem_.parameters), pass.stages.size(),
                   pass.rows.count(), pass.first_place(problem_), pass.last_place(problem_),
                   workers_n_, first.array_bytes),
       {kMeasured},
       vertex,
       [bytes = first.bytes, row = pass.rows.count() * problem_.unit_bytes()](
           const Sizes& sizes) -> std::vector<std::uint64_t> {
         return {bytes, row * sizes[0], row * sizes[0]};
       }});
}

const plan::Function& Functions::pass(const RowPass& pass, bool adjoint) {
  const std::uint64_t bytes = twiddle_bytes(problem_, pass);
  return of_rows(adjoint ? "adjoint pass" : "pass",
                 fmt::format("butterfly_{}_{}_{}{}", number_name(),
                             config::name_of(kParameters, problem_.parameters),
                             adjoint ? "adjoint_" : "", pass.stages.size()),
                 pass, {bytes, bytes / pass.groups(), 0});
}

const plan::Function& Functions::products(const RowPass& pass, std::uint64_t array_bytes) {
  return of_rows("products", "butterfly_products_" + number_name(), pass,
                 {array_bytes * workers_n_, problem_.complex_code() ? 32U : 16U, array_bytes});
}

const plan::Function& Functions::angles() {
  return description_.function(
      {"butterfly angles",
       {kMeasured},
       [code = codelet("butterfly_angles")](const Sizes& sizes, Arrays at) {
         return code.all_over({at[0], Place{at[1].buffer}, Place{at[2].buffer}, 0U}, sizes[0], 1);
       },
       [](const Sizes& sizes) -> std::vector<std::uint64_t> {
         return {16 * sizes[0], 8 * sizes[0], 4 * sizes[0]};
       }});
}

}  // namespace tessera::butterfly
