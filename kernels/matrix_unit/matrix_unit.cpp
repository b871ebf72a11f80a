#include "kernels/matrix_unit/matrix_unit.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/errors.h"
#include "sim/elf/codelet.h"
#include "sim/plan/fitted_cost.h"
#include "sim/plan/step_costs.h"

namespace tessera::matrix_unit {

using program::Type;

namespace {

constexpr config::Names<Mode, 3> kModes{
    {{"f16", Mode::f16}, {"f16_f32", Mode::f16_f32}, {"f32", Mode::f32}}};

Type input_of(Mode mode) { return mode == Mode::f32 ? Type::f32 : Type::f16; }
Type partial_of(Mode mode) { return mode == Mode::f16 ? Type::f16 : Type::f32; }

}  // namespace

void describe(config::Fields& fields, Options& options) {
  fields.field({"n", "positions that pass the weights on each tile"}, options.n, {1, 1U << 24});
  fields.field({"dtype", "f16, f16 with f32 partials, or f32"}, options.dtype, kModes);
  fields.field({"seed", "of the values"}, options.seed);
}

MatrixUnit::MatrixUnit(const Options& options, MachineCosts& costs)
    : options_(options),
      machine_(costs.machine()),
      block_(kernels::block_shape(machine_.tile.matrix_unit, input_of(options.dtype),
                                  partial_of(options.dtype))) {
  kernels::require_unit(machine_, block_.input, block_.partial);
  codelet_ = elf::embedded_codelet("matrix_unit", "matrix_unit_" + block_.name());
  prediction_ = predict(costs);
}

nlohmann::ordered_json MatrixUnit::plan() const {
  return {{"positions", options_.n}, {"workers", machine_.tile.contexts}};
}

/// All tiles do the same.
Prediction MatrixUnit::predict(MachineCosts& costs) const {
  const StepCosts steps(costs);
  FittedCost product_cycles(
      {FittedCost::Axis::shared(machine_.tile.contexts)}, [&](const FittedCost::Sizes& sizes) {
        return steps.vertex([&](program::Program& sample) {
          const auto positions = word(sizes[0]);
          const auto add = [&](std::uint64_t bytes) {
            return sample.add_buffer(
                {TileId{0}, bytes, 8, false, program::Category::tensors, {}, "sample"});
          };
          return product(sample, TileId{0}, positions, add(block_.w_bytes()),
                         add(sizes[0] * block_.x_bytes()), add(sizes[0] * block_.y_bytes()));
        });
      });
  Prediction prediction;
  steps.add(prediction, {{}, product_cycles({options_.n})});
  return prediction;
}

std::uint64_t MatrixUnit::useful_flops() const {
  return std::uint64_t{2} * options_.n * block_.depth * block_.columns * machine_.tiles;
}

std::string MatrixUnit::problem() const {
  return fmt::format("{}x{}x{} {} a tile", options_.n, block_.columns, block_.depth,
                     config::name_of(kModes, options_.dtype));
}

std::string MatrixUnit::peak_type() const {
  if (options_.dtype == Mode::f32) return "f32";
  return options_.dtype == Mode::f16_f32 ? "f16_f32" : "f16";
}

}  // namespace tessera::matrix_unit
