#include "kernels/block_shape.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/errors.h"

namespace tessera::kernels {

namespace {

const MatrixShape& shape_of(const MatrixUnitConfig& unit, Type input, Type partial) {
  if (input == Type::f32) return unit.f32;
  return partial == Type::f32 ? unit.f16_f32 : unit.f16;
}

BlockShape on_unit(const MatrixShape& shape, Type input, Type partial) {
  return {input,          partial,           shape.inputs,       shape.outputs,
          shape.phases(), shape.input_bytes, shape.partial_bytes};
}

BlockShape vector_code(const MatrixShape& shape, Type input, Type partial) {
  constexpr std::uint32_t kDepth = 16;  // as in codelets_vector.S
  const std::uint32_t columns = input == Type::f16 && partial == Type::f16 ? 16 : 8;
  return {input, partial, kDepth, columns, 0, shape.input_bytes, shape.partial_bytes};
}

/// The shape of a form. Throws KeyError naming `key` if there is none.
BlockShape of_form(const std::vector<BlockShape>& shapes, const Form& form, const char* key) {
  std::string allowed;
  for (const BlockShape& shape : shapes) {
    if (shape.form() == form) return shape;
    allowed += fmt::format(", {}", config::name_of(kForms, shape.form()));
  }
  const BlockShape& first = shapes.front();
  const std::string why = first.on_unit()
                              ? ""
                              : fmt::format(" where machine.tile.matrix_unit.{}.outputs is 0",
                                            type_name(first.input, first.partial));
  throw KeyError(key, "found {}, allowed auto{}{}", config::name_of(kForms, form), allowed, why);
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
  return shape.exists() ? on_unit(shape, input, partial) : vector_code(shape, input, partial);
}

BlockShape block_shape(const MatrixUnitConfig& unit, Type input, Type partial, const Form& form,
                       const char* key) {
  if (form == Form()) return block_shape(unit, input, partial);
  const MatrixShape& whole = shape_of(unit, input, partial);
  if (form == kVector) return vector_code(whole, input, partial);
  const MatrixShape block = unit.with_block(whole, form.inputs, form.outputs);
  if (block.exists()) return on_unit(block, input, partial);
  return of_form(block_shapes(unit, input, partial), form, key);
}

std::vector<BlockShape> block_shapes(const MatrixUnitConfig& unit, Type input, Type partial) {
  const MatrixShape& whole = shape_of(unit, input, partial);
  std::vector<BlockShape> shapes;
  for (auto form = kForms.rbegin(); form != kForms.rend(); ++form) {
    const MatrixShape block = unit.with_block(whole, form->second.inputs, form->second.outputs);
    if (block.exists()) shapes.push_back(on_unit(block, input, partial));
  }
  shapes.push_back(vector_code(whole, input, partial));
  return shapes;
}

std::vector<BlockShape> block_shapes_within(std::uint32_t side, const MatrixUnitConfig& unit,
                                            Type input, Type partial, const Form& pinned,
                                            const char* key) {
  constexpr std::uint32_t kLeastBytes = 16;  // bytes of partials, for any unit
  constexpr std::uint32_t kMost = 64;        // inputs and outputs for which sparse tile code exists
  std::vector<BlockShape> shapes = block_shapes(unit, input, partial);
  const auto within = [](std::uint32_t most) {
    return [most](const BlockShape& shape) {
      return shape.on_unit() && std::max(shape.depth, shape.columns) <= most;
    };
  };
  std::erase_if(shapes,
                [&](const BlockShape& shape) { return shape.on_unit() && !within(kMost)(shape); });
  std::stable_partition(shapes.begin(), shapes.end(),
                        within(std::max(side, kLeastBytes / shapes.back().partial_bytes)));
  if (pinned != Form() && side == 1)
    throw KeyError(key, "found {}, allowed auto with blocks of 1", config::name_of(kForms, pinned));
  if (pinned != Form()) return {of_form(shapes, pinned, key)};
  if (!shapes.front().on_unit()) return {shapes.front()};
  return {shapes.front(), shapes.back()};
}

void require_partials(Type input, std::optional<Type> partials) {
  if (input == Type::f32 && partials == Type::f16)
    throw KeyError("workload.partials", "found f16, allowed auto or f32 for dtype f32");
}

void require_unit(const MachineConfig& machine, Type input, Type partial) {
  if (shape_of(machine.tile.matrix_unit, input, partial).exists()) return;
  const bool f32 = input == Type::f32;
  throw KeyError(fmt::format("machine.tile.matrix_unit.{}.outputs", type_name(input, partial)),
                 "found 0 for machine {}, allowed 4 and above for products of {} with sums in {}",
                 machine.name, f32 ? "f32" : "f16", partial == Type::f32 ? "f32" : "f16");
}

}  // namespace tessera::kernels
