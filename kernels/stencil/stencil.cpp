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

/// Adds weight times a cell's values to those of another and to the sizes of their products, and to
/// its errors as much.
struct CellSum {
  const Grid& from;
  Grid& to;
  std::vector<double>& sizes;  ///< of the products of each value
  std::size_t channels;

  void add(double weight, std::size_t cell, std::size_t into) {
    for (std::size_t i = 0; i < channels; ++i) {
      const double product = weight * from.values[cell * channels + i];
      to.values[into * channels + i] += product;
      to.errors[into * channels + i] += std::abs(weight) * from.errors[cell * channels + i];
      sizes[into * channels + i] += std::abs(product);
    }
  }
};

/// The cell `by` - 1 behind number `at` of so many, if there is one: around the grid if periodic.
std::optional<std::size_t> neighbour(std::size_t at, std::size_t by, std::size_t cells,
                                     Boundary boundary) {
  const std::size_t behind = at + cells + by - 1;
  if (boundary == Boundary::zero && (behind < cells || behind >= 2 * cells)) return std::nullopt;
  return behind % cells;
}

/// A tile's nine roundings are each off by at most u of a partial sum (or by the smallest number);
/// errors of cells go on by their weights.
Grid next(const Problem& problem, const Grid& grid, HostThreads& threads) {
  const Options& o = problem.options;
  const std::size_t all = grid.values.size();
  Grid to{std::vector<double>(all), std::vector<double>(all)};
  std::vector<double> sizes(all);
  const double unit = 1.01 * kWeights * data::unit_roundoff(o.dtype);
  const double least = kWeights * (o.dtype == program::Type::f16 ? 0x1p-24 : 0x1p-149);
  threads.for_ranges(o.rows, 1, [&](std::size_t begin, std::size_t end) {
    CellSum sum{grid, to, sizes, o.channels};
    for (std::size_t row = begin; row < end; ++row)
      for (std::size_t i = 0; i < kWeights; ++i) {
        const double weight = problem.weight(i);
        const auto from = neighbour(row, i / 3, o.rows, o.boundary);
        for (std::size_t column = 0; from && column < o.columns; ++column)
          if (const auto beside = neighbour(column, i % 3, o.columns, o.boundary))
            sum.add(weight, *from * o.columns + *beside, row * o.columns + column);
      }
    const std::size_t line = std::size_t{o.columns} * o.channels;
    for (std::size_t i = begin * line; i < end * line; ++i)
      to.errors[i] += unit * (sizes[i] + to.errors[i]) + least;
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
