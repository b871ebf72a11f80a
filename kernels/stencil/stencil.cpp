#include "kernels/stencil/stencil.h"

#include <cmath>

#include <fmt/format.h>

#include "kernels/check/comparison.h"
#include "sim/base/counted.h"

namespace tessera::stencil {

namespace {

constexpr config::Names<Boundary, 2> kBoundaries{
    {{"zero", Boundary::zero}, {"periodic", Boundary::periodic}}};

/// What cells become in double precision, and how far they may be off.
struct Grid {
  std::vector<double> values, errors;
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
  const std::size_t all = grid.values.size(), line = std::size_t{o.columns} * o.channels;
  Grid to{std::vector<double>(all), std::vector<double>(all)};
  std::vector<double> sizes(all);  // of the products of each value
  const double unit = 1.01 * kWeights * data::unit_roundoff(o.dtype);
  const double least = kWeights * (o.dtype == program::Type::f16 ? 0x1p-24 : 0x1p-149);
  const auto add = [&](double weight, std::size_t from, std::size_t into) {
    for (const std::size_t end = from + o.channels; from < end; ++from, ++into) {
      const double product = weight * grid.values[from];
      to.values[into] += product;
      to.errors[into] += std::abs(weight) * grid.errors[from];
      sizes[into] += std::abs(product);
    }
  };
  threads.for_ranges(o.rows, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row)
      for (std::size_t i = 0; i < kWeights; ++i) {
        const double weight = problem.weight(i);
        const auto from = neighbour(row, i / 3, o.rows, o.boundary);
        for (std::size_t column = 0; from && column < o.columns; ++column)
          if (const auto beside = neighbour(column, i % 3, o.columns, o.boundary))
            add(weight, *from * line + *beside * o.channels, row * line + column * o.channels);
      }
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
  fields.field({"dtype", "type of the values, the weights and all sums"}, options.dtype,
               data::kFloatTypes);
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
  kernels::describe_plan(fields, options.plan);
}

Problem::Problem(const Options& given, const MachineConfig& on)
    : options(given),
      machine(on),
      x(given.rows, std::uint64_t{given.columns} * given.channels, given.dtype,
        {given.x, "x", given.seed, 0}) {}

std::string Problem::text() const {
  const Options& o = options;
  return fmt::format("{}x{}x{} {}, {}", o.rows, o.columns, o.channels,
                     config::name_of(data::kFloatTypes, o.dtype), counted(o.steps, "step"));
}

std::uint32_t Problem::cell_bytes() const {
  return word(round_up(std::uint64_t{options.channels} * data::element_bytes(options.dtype),
                       std::uint64_t{8}));
}

void Problem::store(std::uint64_t row, std::uint64_t first, std::span<std::byte> into) const {
  const std::uint32_t numbers = cell_numbers();
  std::uint64_t column = first / numbers, channel = first % numbers;
  for (std::uint64_t i = 0; i < into.size() / data::element_bytes(options.dtype); ++i) {
    const std::uint64_t at = (column - 1) * options.channels + channel;
    data::store_element(options.dtype, into, i,
                        channel < options.channels ? x.element(row - 1, at) : 0);
    if (++channel < numbers) continue;
    channel = 0;
    ++column;
  }
}

double Problem::weight(std::size_t i) const {
  std::array<std::byte, 4> bytes{};
  data::store_element(options.dtype, bytes, 0, options.weights.of[i]);
  return data::load_element(options.dtype, bytes, 0);
}

WorkloadSummary summary(const Problem& problem, const Plan& plan) {
  const Options& options = problem.options;
  std::uint64_t rounded = 0;
  for (std::size_t i = 0; i < kWeights; ++i)
    rounded += problem.weight(i) != options.weights.of[i] ? 1 : 0;
  const std::uint64_t values = std::uint64_t{options.rows} * options.columns * options.channels;
  return {.problem = problem.text(),
          .peak_type = std::string(config::name_of(data::kFloatTypes, options.dtype)),
          .facts = {{"tiles", plan.tile_rows * plan.tile_columns},
                    {"padded_channels", problem.cell_numbers()}},
          .rounded = {{"x", problem.x.rounded()}, {"weights", rounded}},
          .useful_flops = (2 * kWeights - 1) * values * options.steps};
}

CheckResult checked(const Problem& problem, const Plan& /*plan*/, const TensorReader& tensors,
                    const CheckRequest& request) {
  const Options& options = problem.options;
  const std::uint64_t line = problem.x.columns();
  HostThreads threads(request.threads);
  Grid grid{std::vector<double>(options.rows * line), std::vector<double>(options.rows * line)};
  for (std::uint64_t i = 0; i < grid.values.size(); ++i)
    grid.values[i] = problem.x.element(i / line, i % line);
  for (std::uint32_t step = 0; step < options.steps; ++step) grid = next(problem, grid, threads);
  const std::vector<float> found = tensors.floats("Y", threads);
  kernels::Comparison comparison({"Y", options.dtype, options.dtype});
  for (std::uint64_t i = 0; i < found.size(); ++i)
    comparison.add(
        {i / line, i % line, static_cast<double>(found[i]), grid.values[i], grid.errors[i]});
  return comparison.result("full");
}

}  // namespace tessera::stencil
