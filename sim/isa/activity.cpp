#include "sim/isa/activity.h"

#include "sim/isa/result_class.h"
#include "sim/isa/table.h"

namespace tessera::isa {
namespace {

constexpr std::array<std::string_view, kActivities> kNames = {
    "integer",         "integer_multiply", "control",     "memory",         "floating",
    "integer_divides", "float_divides",    "activations", "f32_adds",       "f32_multiplies",
    "f16_adds",        "f16_multiplies",   "matrix_f16",  "matrix_f16_f32", "matrix_f32",
    "matrix_i8",       "matrix_i16",       "matrix_bf16", "bytes_loaded",   "bytes_stored",
    "floating_slots",  "other_slots"};

Activity instruction_class(const InstructionInfo& info) {
  switch (info.issue) {
    case IssueClass::integer:
      return info.cost == CostClass::integer_multiply ? Activity::integer_multiply
                                                      : Activity::integer;
    case IssueClass::memory:
      return Activity::memory;
    case IssueClass::floating:
      return Activity::floating;
    case IssueClass::branch:
    case IssueClass::control:
      break;
  }
  return Activity::control;
}

/// Counts the table's flops by operation and type, per lane.
template <class Counts>
void count_lanes(Mnemonic mnemonic, Counts& counts) {
  const Arithmetic arithmetic = arithmetic_of(mnemonic);
  if (arithmetic == Arithmetic::none || arithmetic == Arithmetic::integer_add) return;
  const bool f16 = info(mnemonic).mnemonic.ends_with("h");
  const bool widens = mnemonic == Mnemonic::dot2_s_h;  // products of f16, sums in f32
  const std::uint32_t lanes = arithmetic_lanes(mnemonic);
  const auto add = f16 && !widens ? Activity::f16_adds : Activity::f32_adds;
  const auto multiply = f16 ? Activity::f16_multiplies : Activity::f32_multiplies;
  if (arithmetic != Arithmetic::multiply) counts[index(add)] = lanes;
  if (arithmetic != Arithmetic::add) counts[index(multiply)] = lanes;
}

Activity matrix_operation(Mnemonic mnemonic) {
  switch (mnemonic) {
    case Mnemonic::amp_h:
      return Activity::matrix_f16;
    case Mnemonic::amp_hs:
      return Activity::matrix_f16_f32;
    case Mnemonic::amp_s:
      return Activity::matrix_f32;
    case Mnemonic::amp_i16:
      return Activity::matrix_i16;
    case Mnemonic::amp_bf16:
      return Activity::matrix_bf16;
    default:
      return Activity::matrix_i8;
  }
}

}  // namespace

std::string_view name_of(Activity activity) { return kNames[index(activity)]; }

std::array<std::uint32_t, kActivities> activity(const Instruction& instruction, std::uint32_t slots,
                                                std::uint32_t multiply_adds) {
  const InstructionInfo& known = info(instruction.mnemonic);
  std::array<std::uint32_t, kActivities> counts{};
  const auto at = [&](Activity which) -> std::uint32_t& { return counts[index(which)]; };
  at(instruction_class(known)) = 1;
  at(known.issue == IssueClass::floating ? Activity::floating_slots : Activity::other_slots) =
      slots;
  at(Activity::integer_divides) = known.cost == CostClass::integer_divide ? 1 : 0;
  at(Activity::float_divides) = known.cost == CostClass::float_divide ? 1 : 0;
  at(Activity::activations) = known.cost == CostClass::activation ? 1 : 0;
  count_lanes(instruction.mnemonic, counts);
  if (feeds_matrix_unit(instruction)) at(matrix_operation(instruction.mnemonic)) = multiply_adds;
  at(Activity::bytes_loaded) = known.bytes_loaded;
  at(Activity::bytes_stored) = known.bytes_stored;
  return counts;
}

}  // namespace tessera::isa
