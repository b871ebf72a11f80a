#include "kernels/matrix_unit/matrix_unit.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/errors.h"
#include "sim/elf/codelet.h"
#include "sim/plan/uniform.h"

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
  const auto one_tile = [this](const plan::Sizes& sizes) { return describe(1, word(sizes[0])); };
  const std::uint64_t macs = std::uint64_t{options.n} * block_.depth * block_.columns;
  summarise({.problem = fmt::format("{}x{}x{} {} a tile", options.n, block_.columns, block_.depth,
                                    config::name_of(kModes, options.dtype)),
             .peak_type = kernels::type_name(block_.input, block_.partial),
             .plan = {{"positions", options.n}, {"workers", machine_.tile.contexts}},
             .prediction = plan::predict_uniform({FittedCost::Axis::shared(machine_.tile.contexts)},
                                                 {options.n}, one_tile, costs),
             .useful_flops = 2 * macs * machine_.tiles});
}

}  // namespace tessera::matrix_unit
