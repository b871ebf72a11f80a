#include "kernels/block_shape.h"

#include <fmt/format.h>

#include "sim/base/errors.h"

namespace tessera::kernels {

namespace {

const MatrixShape& shape_of(const MatrixUnitConfig& unit, Type input, Type partial) {
  if (input == Type::f32) return unit.f32;
  return partial == Type::f32 ? unit.f16_f32 : unit.f16;
}

}  // namespace

const char* type_name(Type input, Type partial) {
  if (input == Type::f32) return "f32";
  return partial == Type::f32 ? "f16_f32" : "f16";
}

std::string BlockShape::name() const {
  if (!on_unit()) return fmt::format("vector_{}", type_name(input, partial));
  return fmt::format("{}_{}x{}", type_name(input, partial), depth, columns);
}

BlockShape block_shape(const MatrixUnitConfig& unit, Type input, Type partial) {
  const MatrixShape& shape = shape_of(unit, input, partial);
  if (!shape.exists()) {
    constexpr std::uint32_t kDepth = 16;  // as codelets_vector.S
    const std::uint32_t columns = input == Type::f16 && partial == Type::f16 ? 16 : 8;
    return {input, partial, kDepth, columns, 0, 0, shape.input_bytes, shape.partial_bytes};
  }
  return {input,          partial,        shape.inputs,      shape.outputs,
          shape.phases(), shape.interval, shape.input_bytes, shape.partial_bytes};
}

void require_partials(Type input, std::optional<Type> partials) {
  if (input == Type::f32 && partials == Type::f16)
    throw KeyError("workload.partials", "found f16, allowed auto or f32 for dtype f32");
}

void require_unit(const MachineConfig& machine, Type input, Type partial) {
  if (shape_of(machine.tile.matrix_unit, input, partial).exists()) return;
  const bool f32 = input == Type::f32;
  throw KeyError(
      fmt::format("machine.tile.matrix_unit.{}.outputs", type_name(input, partial)),
      fmt::format("found 0 for machine {}, allowed 4 and up where it multiplies {} and sums in {}",
                  machine.name, f32 ? "f32" : "f16", partial == Type::f32 ? "f32" : "f16"));
}

}  // namespace tessera::kernels
