#include "kernels/stencil/stencil.h"

#include <cmath>

#include "kernels/check/comparison.h"
#include "kernels/check/rounding.h"
#include "kernels/planned.h"

namespace tessera::stencil {

namespace {

constexpr std::size_t kWeights = 9;
constexpr config::Names<Boundary, 2> kBoundaries{
    {{"zero", Boundary::zero}, {"periodic", Boundary::periodic}}};

/// A cell's value in double precision, and the error bound of a tile's value.
struct Value {
  double exact = 0, error = 0;
};
using Grid = std::vector<Value>;

/// Index of the first value of the cell in direction `i` of nine; none beyond the grid, unless it
/// is periodic.
std::optional<std::size_t> neighbour(const Options& o, std::size_t row, std::size_t column,
                                     std::size_t i) {
  const std::size_t down = row + i / 3, across = column + i % 3;  // both + 1
  const bool inside = down >= 1 && down <= o.rows && across >= 1 && across <= o.columns;
  if (!inside && o.boundary == Boundary::zero) return std::nullopt;
  return ((down + o.rows - 1) % o.rows * o.columns + (across + o.columns - 1) % o.columns) *
         o.channels;
}

/// One step in double. A tile's nine roundings each err by at most u of a partial sum (or by the
/// smallest number); errors of cells propagate by their weights.
Grid next(const Problem& problem, const Grid& grid, HostThreads& threads) {
  const Options& o = problem.options;
  Grid to(grid.size());
  const double unit = 1.01 * kWeights * data::unit_roundoff(o.dtype);
  const double least = 2 * kWeights * kernels::half_smallest(o.dtype);
  const auto make = [&](std::size_t row, std::size_t column) {
    Value* const made = &to[(row * o.columns + column) * o.channels];
    std::vector<double> sizes(o.channels);  // magnitudes of the products of each value
    for (std::size_t i = 0; i < kWeights; ++i) {
      const auto from = neighbour(o, row, column, i);
      for (std::size_t channel = 0; from && channel < o.channels; ++channel) {
        const Value& cell = grid[*from + channel];
        const double product = problem.weights[i] * cell.exact;
        made[channel].exact += product;
        made[channel].error += std::abs(problem.weights[i]) * cell.error;
        sizes[channel] += std::abs(product);
      }
    }
    for (std::size_t channel = 0; channel < o.channels; ++channel)
      made[channel].error += unit * (sizes[channel] + made[channel].error) + least;
  };
  threads.for_ranges(o.rows, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row)
      for (std::size_t column = 0; column < o.columns; ++column) make(row, column);
  });
  return to;
}

}  // namespace

void describe(config::Fields& fields, Weights& weights) {
  constexpr std::array<const char*, 9> kKeys{"nw", "n", "ne", "w", "m", "e", "sw", "s", "se"};
  for (std::size_t i = 0; i < weights.of.size(); ++i)
    fields.field({kKeys[i], "weight of that neighbour, rounded to dtype"}, weights.of[i],
                 {-65504, 65504});
}

void describe(config::Fields& fields, Options& options) {
  fields.field({"rows", "rows of cells"}, options.rows, {1, 1U << 24});
  fields.field({"columns", "columns of cells"}, options.columns, {1, 1U << 24});
  fields.field({"channels", "channels per cell, each with its own stencil; padded to 64-bit words"},
               options.channels, {1, 1U << 16});
  fields.field({"dtype", "type of the values, the weights and all sums"}, options.dtype,
               data::kFloatTypes);
  fields.field({"steps", "number of steps, in which all cells are updated"}, options.steps,
               {1, 1U << 30});
  fields.field({"boundary", "values beyond the grid: zero, or those of the opposite side"},
               options.boundary, kBoundaries);
  fields.field({"operands", "location of the grid: tile SRAM, or external memory"},
               options.external, kernels::kOperandPlaces);
  fields.require(!options.external || options.boundary == Boundary::zero, "boundary",
                 "found periodic, allowed zero with operands external");
  fields.group({"weights", "weights of the neighbouring cells"}, options.weights);
  fields.file({"x", data::file_sentence("the grid, [rows, columns x channels]")}, options.x);
  fields.field({"seed", "seed of the values"}, options.seed);
  kernels::describe_plan(fields, options.plan);
}

Problem::Problem(const Options& given, const MachineConfig& on)
    : options(given),
      machine(on),
      x(given.rows, std::uint64_t{given.columns} * given.channels, given.dtype,
        {given.x, "x", given.seed, 0}) {
  // Two grids, each with its ring.
  const std::uint64_t cells =
      2 * (given.rows + std::uint64_t{2}) * (given.columns + std::uint64_t{2});
  if (given.external) kernels::require_external(on, "the grids of two steps", cells * cell_bytes);
}

WorkloadSummary summary(const Problem& problem, const Plan& plan) {
  const Options& options = problem.options;
  const std::uint64_t values = std::uint64_t{options.rows} * options.columns * options.channels;
  return {.peak_type = std::string(config::name_of(data::kFloatTypes, options.dtype)),
          .facts = {{"tiles", plan.tile_rows * plan.tile_columns},
                    {"padded_channels", problem.cell_numbers()}},
          .rounded = {{"x", problem.x.rounded()}, {"weights", problem.rounded_weights}},
          .useful_flops = (2 * kWeights - 1) * values * options.steps};
}

CheckResult checked(const Problem& problem, const Plan& /*plan*/, const TensorReader& tensors,
                    HostThreads& threads) {
  const Options& options = problem.options;
  const std::uint64_t line = problem.x.columns();
  Grid grid(options.rows * line);
  for (std::uint64_t i = 0; i < grid.size(); ++i)
    grid[i].exact = problem.x.element(i / line, i % line);
  for (std::uint32_t step = 0; step < options.steps; ++step) grid = next(problem, grid, threads);
  return kernels::compare_all("Y", tensors, threads, [&](std::uint64_t i) -> kernels::Expected {
    return {grid[i].exact, grid[i].error};
  });
}

}  // namespace tessera::stencil
