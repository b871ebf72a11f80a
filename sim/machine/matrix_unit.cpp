#include "sim/machine/matrix_unit.h"

#include <algorithm>
#include <span>

#include "sim/config/fields.h"

namespace tessera {

using config::Fields;

namespace {

constexpr std::uint64_t kSizes[] = {0, 4, 8, 16, 32, 64, 128};     // outputs; inputs except 0
constexpr std::uint64_t kHalfOutputs[] = {0, 8, 16, 32, 64, 128};  // f16 partials
// Vector types have only these: 4 or 8 inputs and outputs.
constexpr std::uint64_t kFew[] = {0, 4};
constexpr std::uint64_t kMany[] = {0, 8};
constexpr std::uint32_t kFewestWords = 2;  // of partials; tile code adds up this many at once
/// Outputs of a vector type: one row of results has 8 bytes.
constexpr std::uint32_t vector_outputs(const MatrixShape& shape) {
  return MatrixShape::kOperandBytes / shape.input_bytes;
}

constexpr const char* kAllowedShapes =
    "allowed: outputs 0 (the unit has no such type), or powers of two from 4 to 128 with 16 bytes "
    "of partials and 2 to 32 phases, at most one an input, where phases = max(inputs x input "
    "bytes, outputs x partial bytes) / 8";

bool is_size(std::uint32_t count) {
  return count != 0 && std::ranges::find(kSizes, count) != std::end(kSizes);
}

}  // namespace

bool MatrixShape::allowed() const {
  if (!exists()) return true;
  if (has_vectors()) return outputs == vector_outputs(*this);
  return is_size(inputs) && is_size(outputs) && partial_words() >= kFewestWords &&
         phases() <= kMostPhases && phases() <= inputs;
}

MatrixShape MatrixUnitConfig::with_block(const MatrixShape& shape, std::uint32_t inputs,
                                         std::uint32_t outputs) const {
  MatrixShape block = shape;
  block.inputs = inputs;
  block.outputs = outputs;
  const bool takes =
      smaller_blocks ? inputs <= shape.inputs && outputs <= shape.outputs : block == shape;
  if (!takes || !block.allowed()) block.outputs = 0;
  return block;
}

MatrixUnitConfig MatrixUnitConfig::with_blocks(std::uint32_t number) const {
  MatrixUnitConfig unit = *this;
  if (number == 0) return unit;
  for (MatrixShape* shape : {&unit.f16, &unit.f16_f32, &unit.f32})
    *shape = with_block(*shape, 2U << (number & 7U), 2U << (number >> 3));
  return unit;
}

std::uint32_t MatrixUnitConfig::weight_words() const {
  return std::max({f16.weight_words(), f16_f32.weight_words(), f32.weight_words()});
}

std::uint32_t MatrixUnitConfig::bank_sums() const {
  return std::max({f16.outputs, f16_f32.outputs, f32.outputs});
}

void describe(Fields& fields, MatrixShape& shape) {
  using Sizes = std::span<const std::uint64_t>;
  const bool vectors = shape.has_vectors();
  const auto either = [](std::uint32_t size) { return Sizes(size == 4 ? kFew : kMany); };
  // 32 phases carry at most 64 four-byte values.
  const auto most = [](std::uint32_t bytes) { return Sizes(kSizes).first(bytes == 4 ? 6 : 7); };
  const Sizes outputs = vectors                    ? either(vector_outputs(shape))
                        : shape.partial_bytes == 2 ? Sizes(kHalfOutputs)
                                                   : most(shape.partial_bytes);
  const Sizes inputs =
      vectors ? either(shape.inputs).subspan(1) : most(shape.input_bytes).subspan(1);
  fields.field({"outputs",
                "outputs of a block; 0: the unit does not support this type. Types with partials "
                "need at least 16 bytes of them"},
               shape.outputs, config::one_of(outputs));
  const std::string_view unused_with = shape.exists() ? "" : "outputs";
  fields.field({"inputs",
                "inputs of a block; with `outputs` they take 1 to 32 phases, one for each 8-byte "
                "word of the larger of operands and partials: one phase for i8, i16 and bf16; for "
                "other types at least two and at most `inputs`",
                "", false, unused_with},
               shape.inputs, config::one_of(inputs));
  fields.field({"interval", "cycles from one phase (8 bytes of x, 8 of partials) to the next",
                "cycles (barrel: slots of the context)", false, unused_with},
               shape.interval, {1, 1000});
  fields.require(shape.allowed(), "outputs", "found {} inputs and {} outputs, {}", shape.inputs,
                 shape.outputs, kAllowedShapes);
}

void describe(Fields& fields, MatrixUnitConfig& unit) {
  fields.group({"f16", "f16 with f16 partials, sums in f32 (amp.h)"}, unit.f16);
  fields.group({"f16_f32", "f16 with f32 partials (amp.hs)"}, unit.f16_f32);
  fields.group({"f32", "f32 (amp.s)"}, unit.f32);
  fields.group({"i8", "int8, four rows of x per instruction (amp.b)"}, unit.i8);
  fields.group({"i16", "int16, four rows of x per instruction (amp.i16)"}, unit.i16);
  fields.group({"bf16", "bf16, four rows of x per instruction (amp.bf16)"}, unit.bf16);
  fields.field({"weight_load_bytes_per_cycle", "rate of weight loads (ldcw)", "bytes a cycle"},
               unit.weight_load_bytes_per_cycle, {1, 1024});
  fields.field({"smaller_blocks",
                "the unit also accepts blocks with fewer inputs and outputs, of each type at the "
                "speed of a unit of that size (run.block); false: only its own size"},
               unit.smaller_blocks);
}

}  // namespace tessera
