#include "kernels/stencil/stencil.h"

#include <cmath>

#include <fmt/format.h>

#include "kernels/check/comparison.h"
#include "sim/base/counted.h"
#include "sim/config/writers.h"
#include "sim/data/element.h"
#include "sim/plan/lower.h"

namespace tessera::stencil {

namespace {

constexpr config::Names<Boundary, 2> kBoundaries{
    {{"zero", Boundary::zero}, {"periodic", Boundary::periodic}}};
constexpr config::Names<program::Type, 2> kTypes{
    {{"f16", program::Type::f16}, {"f32", program::Type::f32}}};

/// What cells become in double precision, and how far they may be off.
struct Grid {
  std::vector<double> values, errors;
};

/// A tile's nine roundings are each off by at most u of a partial sum (or by the smallest number);
/// errors of cells go on by their weights.
class NextRow {
 public:
  NextRow(const Problem& problem, const Grid& from, Grid& to)
      : problem_(problem),
        from_(from),
        to_(to),
        columns_(problem.options.columns),
        channels_(problem.options.channels),
        sizes_(columns_ * channels_) {}

  void become(std::size_t row) {
    const Options& o = problem_.options;
    std::ranges::fill(sizes_, 0.0);
    first_ = row * sizes_.size();
    for (std::size_t i = 0; i < kWeights; ++i) {
      const std::size_t above = row + o.rows + i / 3 - 1;
      const bool inside = above >= o.rows && above < 2 * std::size_t{o.rows};
      if (inside || o.boundary == Boundary::periodic)
        add_row(problem_.weight(i), above % o.rows * columns_, i % 3);
    }
    const double unit = 1.01 * kWeights * data::unit_roundoff(o.dtype);
    const double least = kWeights * (o.dtype == program::Type::f16 ? 0x1p-24 : 0x1p-149);
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      double& error = to_.errors[first_ + i];
      error += unit * (sizes_[i] + error) + least;
    }
  }

 private:
  /// Cells of the row that begins with cell `from`, the one to the left, here or to the right.
  void add_row(double weight, std::size_t from, std::size_t side) {
    const bool wraps = problem_.options.boundary == Boundary::periodic;
    if (side == 1) return add(weight, from, 0, columns_);
    const std::size_t last = columns_ - 1;
    if (side == 0) {
      if (wraps) add(weight, from + last, 0, 1);
      add(weight, from, 1, last);
    } else {
      add(weight, from + 1, 0, last);
      if (wraps) add(weight, from, last, 1);
    }
  }
  void add(double weight, std::size_t cell, std::size_t column, std::size_t cells) {
    const double* const values = from_.values.data() + cell * channels_;
    const double* const errors = from_.errors.data() + cell * channels_;
    const std::size_t into = column * channels_;
    for (std::size_t i = 0; i < cells * channels_; ++i) {
      to_.values[first_ + into + i] += weight * values[i];
      to_.errors[first_ + into + i] += std::abs(weight) * errors[i];
      sizes_[into + i] += std::abs(weight * values[i]);
    }
  }

  const Problem& problem_;
  const Grid& from_;
  Grid& to_;
  std::size_t columns_, channels_;
  std::size_t first_ = 0;      ///< value of the row
  std::vector<double> sizes_;  ///< of the products of each value of the row
};

Grid next(const Problem& problem, const Grid& grid, HostThreads& threads) {
  Grid to{std::vector<double>(grid.values.size()), std::vector<double>(grid.values.size())};
  threads.for_ranges(problem.options.rows, 1, [&](std::size_t begin, std::size_t end) {
    NextRow next(problem, grid, to);
    for (std::size_t row = begin; row < end; ++row) next.become(row);
  });
  return to;
}

}  // namespace

void describe(config::Fields& fields, Weights& weights) {
  constexpr std::array<const char*, kWeights> kKeys{"nw", "n",  "ne", "w", "m",
                                                    "e",  "sw", "s",  "se"};
  for (std::size_t i = 0; i < kWeights; ++i)
    fields.field({kKeys[i], "of the cell there, rounded to dtype"}, weights.of[i], {-65504, 65504});
}

void describe(config::Fields& fields, Options& options) {
  fields.field({"rows", "of cells"}, options.rows, {1, 1U << 24});
  fields.field({"columns", "of cells"}, options.columns, {1, 1U << 24});
  fields.field(
      {"channels",
       "values of a cell, each with a stencil of its own; they are padded to 64-bit words"},
      options.channels, {1, 1U << 16});
  fields.field({"dtype", "type of the values, the weights and all sums"}, options.dtype, kTypes);
  fields.field({"steps", "times that all cells take their next value"}, options.steps,
               {1, 1U << 30});
  fields.field({"boundary", "cells beyond the grid: zero, or those of its other side"},
               options.boundary, kBoundaries);
  fields.field(
      {"operands", "where the grid is given and wanted: on the tiles, or in memory outside"},
      options.external, kernels::kOperandPlaces);
  fields.require(!options.external || options.boundary == Boundary::zero, "boundary",
                 "found periodic, allowed zero with operands external");
  fields.group({"weights", "what the cells around add to a cell's next value"}, options.weights);
  fields.file({"x", data::file_sentence("the grid, [rows, columns x channels]")}, options.x);
  fields.field({"seed", "of the values"}, options.seed);
  fields.optional_group({"plan", "a pinned plan; the planner searches one if not given"},
                        options.plan);
}

Problem::Problem(const Options& given, const MachineConfig& on)
    : options(given),
      machine(on),
      x(given.rows, std::uint64_t{given.columns} * given.channels, given.dtype,
        {given.x, "x", given.seed, 0}) {}

std::string Problem::text() const {
  const Options& o = options;
  return fmt::format("{}x{}x{} {}, {}", o.rows, o.columns, o.channels,
                     config::name_of(kTypes, o.dtype), counted(o.steps, "step"));
}

std::uint32_t Problem::cell_bytes() const {
  return word(round_up(std::uint64_t{options.channels} * data::element_bytes(options.dtype),
                       std::uint64_t{8}));
}

double Problem::weight(std::size_t i) const {
  std::array<std::byte, 4> bytes{};
  data::store_element(options.dtype, bytes, 0, options.weights.of[i]);
  return data::load_element(options.dtype, bytes, 0);
}

Stencil::Stencil(const Options& options, MachineCosts& costs)
    : problem_(std::make_shared<const Problem>(options, costs.machine())) {
  auto [plan, prediction] = planned(problem_, costs);
  plan_ = plan;
  std::uint64_t rounded = 0;
  for (std::size_t i = 0; i < kWeights; ++i)
    rounded += problem_->weight(i) != options.weights.of[i] ? 1 : 0;
  const std::uint64_t values = std::uint64_t{options.rows} * options.columns * options.channels;
  summarise(
      {.problem = problem_->text(),
       .peak_type = std::string(config::name_of(kTypes, options.dtype)),
       .plan = config::resolved(plan_),
       .prediction = prediction,
       .facts = {{"tiles", plan_.tile_rows * plan_.tile_columns},
                 {"padded_channels", problem_->cell_bytes() / data::element_bytes(options.dtype)}},
       .rounded = {{"x", problem_->x.rounded()}, {"weights", rounded}},
       .useful_flops = (2 * kWeights - 1) * values * options.steps});
}

program::Program Stencil::lowered() const {
  plan::Description description = describe_program(problem_, plan_);
  description.tensor(data::tensor_of("x", problem_->x, problem_->options.dtype));
  return plan::lower(description);
}

CheckResult Stencil::check(const TensorReader& tensors, const CheckRequest& request) const {
  const Options& options = problem_->options;
  const std::uint64_t line = problem_->x.columns();
  HostThreads threads(request.threads);
  Grid grid{std::vector<double>(options.rows * line), std::vector<double>(options.rows * line)};
  for (std::uint64_t i = 0; i < grid.values.size(); ++i)
    grid.values[i] = problem_->x.element(i / line, i % line);
  for (std::uint32_t step = 0; step < options.steps; ++step) grid = next(*problem_, grid, threads);
  const std::vector<float> found = tensors.floats("Y", threads);
  kernels::Comparison comparison({"Y", options.dtype, options.dtype});
  for (std::uint64_t i = 0; i < found.size(); ++i)
    comparison.add(
        {i / line, i % line, static_cast<double>(found[i]), grid.values[i], grid.errors[i]});
  return comparison.result("full");
}

}  // namespace tessera::stencil
