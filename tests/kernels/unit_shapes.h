#pragma once

#include <vector>

#include "kernels/sparse/code/shape.h"
#include "sim/config/writers.h"
#include "tests/kernels/points.h"
#include "tests/kernels/small_machine.h"

namespace tessera::test {

/// Types of a product's inputs and of its partial sums.
struct Types {
  program::Type input;
  program::Type partial;
};
constexpr Types kTypes[] = {{program::Type::f16, program::Type::f16},
                            {program::Type::f16, program::Type::f32},
                            {program::Type::f32, program::Type::f32}};

inline MatrixShape& shape_of(MachineConfig& machine, const Types& types) {
  MatrixUnitConfig& unit = machine.tile.matrix_unit;
  if (types.input == program::Type::f32) return unit.f32;
  return types.partial == program::Type::f32 ? unit.f16_f32 : unit.f16;
}

/// The shape of a product in blocks (`block` 1: single elements) on the full matrix unit.
inline sparse::Shape full_shape(std::uint32_t block, program::Type type, program::Type partials) {
  return {.block = block,
          .type = type,
          .partials = partials,
          .unit = kernels::block_shape(full_unit(), type, partials)};
}

/// A point with that input type; the keys listed in its `shapes` are set to the partial type.
inline Point with_types(const Point& point, const Types& types) {
  config::Json keys{{"dtype", kernels::type_name(types.input)}};
  for (const std::string key : point.facts.at("shapes"))
    keys[key] = kernels::type_name(types.partial);
  return with(point, keys);
}

/// The config key of a machine's matrix unit, with its value.
inline config::Json unit_of(const MachineConfig& machine) {
  return {{"machine.tile.matrix_unit", config::resolved(machine).at("tile").at("matrix_unit")}};
}

/// Small machines with every matrix-unit shape that these types allow, and one without a unit.
inline std::vector<MachineConfig> machines_of_every_shape(const Types& types, std::uint32_t tiles) {
  std::vector<MachineConfig> made;
  for (std::uint32_t inputs = 4; inputs <= 128; inputs *= 2) {
    for (std::uint32_t outputs = 4; outputs <= 128; outputs *= 2) {
      MachineConfig machine = small_machine(tiles);
      MatrixShape& shape = shape_of(machine, types);
      shape.inputs = inputs;
      shape.outputs = outputs;
      if (shape.allowed()) made.push_back(machine);
    }
  }
  made.push_back(small_machine(tiles));
  shape_of(made.back(), types).outputs = 0;
  return made;
}

}  // namespace tessera::test
