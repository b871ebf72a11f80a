#include "sim/engine/timing.h"

#include <algorithm>

#include "sim/base/types.h"
#include "sim/engine/result_costs.h"
#include "sim/isa/registers.h"
#include "sim/isa/table.h"

namespace tessera::engine {

using isa::CostClass;
using isa::Instruction;
using isa::Mnemonic;

namespace {

// run, join, sync, exchange, load weights: the engine's caller determines their time.
bool costs_elsewhere(const Instruction& instruction) {
  switch (instruction.mnemonic) {
    case Mnemonic::run:
    case Mnemonic::run_block:
    case Mnemonic::exch:
    case Mnemonic::exch_wait:
    case Mnemonic::ldcw:
      return true;
    case Mnemonic::xctl:
      return instruction.imm == 1 || instruction.imm >= 16;
    default:
      return false;
  }
}

/// The integer register that a load fills from memory; others that it writes are addresses.
std::uint32_t loaded_integer(const Instruction& instruction) {
  for (const isa::Operand& operand : isa::info(instruction.mnemonic).operands) {
    if (operand.field == isa::Field::rd && operand.shape == isa::Shape::x_register)
      return operand.writes ? (1U << instruction.rd) & ~1U : 0;
  }
  return 0;
}

packed::AmpShape amp_shape(packed::AmpKind kind, const MatrixShape& shape) {
  return {kind, shape.inputs, shape.outputs};
}

}  // namespace

Timing::Timing(Role role, const TileConfig& tile)
    : role_(role),
      tile_(tile),
      own_port_(role == Role::supervisor && tile.issue == IssueKind::barrel),
      shapes_{amp_shape(packed::AmpKind::h, tile.matrix_unit.f16),
              amp_shape(packed::AmpKind::hs, tile.matrix_unit.f16_f32),
              amp_shape(packed::AmpKind::s, tile.matrix_unit.f32), tile.matrix_unit.bank_sums()} {}

std::uint32_t Timing::alone(const Instruction& instruction) const {
  if (costs_elsewhere(instruction)) return 0;
  if (own_port_) return tile_.supervisor.plain_cycles;
  const CostClass cost = isa::info(instruction.mnemonic).cost;
  if (cost == CostClass::matrix) return 1;
  const std::uint32_t result = result_slots(instruction.mnemonic);
  if (cost != CostClass::plain) return result;
  return std::max({tile_.slots.plain, memory_slots(instruction), result});
}

std::uint32_t Timing::branch_extra() const {
  if (!own_port_) return 0;
  const std::uint32_t taken = tile_.supervisor.branch_taken_cycles;
  return taken - std::min(taken, tile_.supervisor.plain_cycles);
}

bool Timing::pairs(const Instruction& first, const Instruction& second) const {
  return !own_port_ && tile_.dual_issue && isa::may_pair(first, second);
}

std::uint32_t Timing::stall(const Instruction& first, const Instruction& second) const {
  if (!own_port_ || isa::info(first.mnemonic).bytes_loaded == 0) return 0;
  const isa::RegisterSets loaded = isa::registers(first);
  const isa::RegisterSets used = isa::registers(second);
  // An advanced address register is ready at once: only loaded values stall.
  const std::uint32_t integer = loaded_integer(first);
  const bool waits = (integer & used.reads_x) != 0 || (loaded.writes_f & used.reads_f) != 0;
  return waits ? tile_.supervisor.load_use_stall_cycles : 0;
}

std::uint32_t Timing::matrix_macs(const Instruction& instruction) const {
  return isa::feeds_matrix_unit(instruction) ? matrix_shape(instruction.mnemonic).macs() : 0;
}

std::uint32_t Timing::flops(const Instruction& instruction) const {
  constexpr std::uint32_t kFlopsOfMac = 2;
  const isa::InstructionInfo& known = isa::info(instruction.mnemonic);
  return known.cost == CostClass::matrix ? kFlopsOfMac * matrix_macs(instruction) : known.flops;
}

/// A supervisor may issue in parallel: only workers' slots count as slots of the tile.
Done Timing::done(const Instruction& instruction) const {
  Done done;
  done.set(isa::activity(instruction, role_ == Role::worker ? alone(instruction) : 0,
                         matrix_macs(instruction)));
  return done;
}

bool Timing::exists(const Instruction& instruction) const {
  if (isa::uses_integer_unit(instruction.mnemonic)) return has_vectors(instruction.mnemonic);
  if (isa::info(instruction.mnemonic).cost != CostClass::matrix) return true;
  const MatrixShape& shape = matrix_shape(instruction.mnemonic);
  return shape.exists() &&
         packed::amp_phase(static_cast<std::uint32_t>(instruction.imm)) < shape.phases();
}

std::uint32_t Timing::cycles_per_slot() const {
  return role_ == Role::worker ? tessera::cycles_per_slot(tile_) : 1;
}

bool Timing::waits() const {
  if (own_port_) return false;
  std::uint32_t longest = std::max(tile_.latency.load, tile_.latency.branch_taken);
  std::uint32_t rarest = 1;
  for (const ResultCosts& each : result_costs()) {
    longest = std::max(longest, tile_.latency.*each.latency.number);
    if (each.interval.number != nullptr)
      rarest = std::max(rarest, tile_.interval.*each.interval.number);
  }
  const MatrixUnitConfig& unit = tile_.matrix_unit;
  const std::uint32_t phase = std::max({unit.f16.interval, unit.f16_f32.interval, unit.f32.interval,
                                        unit.i8.interval, unit.i16.interval, unit.bf16.interval});
  return shared() || slots_of(longest) > 1 || rarest > 1 || phase > 1;
}

std::uint32_t Timing::distance() const { return std::max(1U, tile_.reissue_cycles); }

std::uint32_t Timing::branch_latency() const { return slots_of(tile_.latency.branch_taken); }

std::uint32_t Timing::slots_of(std::uint32_t latency_cycles) const {
  return ceil_div(latency_cycles, cycles_per_slot());
}

Demand Timing::demand(const Instruction& instruction) const {
  const auto bits = [](std::uint32_t x, std::uint32_t f, std::uint64_t unit) {
    return RegisterMask{std::uint64_t{x} | std::uint64_t{f} << Demand::kFloating, unit};
  };
  const isa::RegisterSets sets = isa::registers(instruction);
  const RegisterMask writes = bits(sets.writes_x, sets.writes_f, sets.writes_unit);
  Demand demand;
  demand.uses = bits(sets.reads_x, sets.reads_f, sets.reads_unit) | writes;
  if (isa::info(instruction.mnemonic).bytes_loaded != 0)
    demand.loads = bits(loaded_integer(instruction), sets.writes_f, sets.writes_unit);
  demand.makes = writes & ~demand.loads;
  if (matrix_shape(instruction.mnemonic).has_vectors() &&
      isa::info(instruction.mnemonic).cost == CostClass::matrix)
    demand.accumulates = demand.makes;
  demand.slots = alone(instruction);
  demand.load_latency = slots_of(tile_.latency.load);
  const ResultCosts& costs = costs_of(isa::result_class(instruction.mnemonic));
  demand.latency = slots_of(tile_.latency.*costs.latency.number);
  demand.cause = Cause::arithmetic;
  demand.unit = costs.unit;
  if (costs.interval.number != nullptr) demand.interval = tile_.interval.*costs.interval.number;
  if (demand.unit == Unit::matrix) {
    demand.cause = Cause::matrix;
    demand.interval = matrix_shape(instruction.mnemonic).interval;
  }
  return demand;
}

std::uint32_t Timing::memory_slots(const Instruction& instruction) const {
  const isa::InstructionInfo& info = isa::info(instruction.mnemonic);
  return std::max(ceil_div<std::uint32_t>(info.bytes_loaded, tile_.load_bytes_per_slot),
                  ceil_div<std::uint32_t>(info.bytes_stored, tile_.store_bytes_per_slot));
}

/// Slots of the computation: plain arithmetic takes them once per group of float_lanes lanes.
std::uint32_t Timing::result_slots(Mnemonic mnemonic) const {
  const std::uint32_t once = tile_.slots.*costs_of(isa::result_class(mnemonic)).slots.number;
  if (isa::arithmetic_of(mnemonic) == isa::Arithmetic::none) return once;
  return once * ceil_div(isa::arithmetic_lanes(mnemonic), tile_.slots.float_lanes);
}

const MatrixShape& Timing::matrix_shape(Mnemonic mnemonic) const {
  const MatrixUnitConfig& unit = tile_.matrix_unit;
  switch (mnemonic) {
    case Mnemonic::amp_h:
      return unit.f16;
    case Mnemonic::amp_hs:
      return unit.f16_f32;
    case Mnemonic::amp_s:
      return unit.f32;
    case Mnemonic::amp_i16:
      return unit.i16;
    case Mnemonic::amp_bf16:
      return unit.bf16;
    default:
      return unit.i8;
  }
}

/// True if the unit has the vector type that the instruction needs: a specific one, or any.
bool Timing::has_vectors(Mnemonic mnemonic) const {
  const MatrixUnitConfig& unit = tile_.matrix_unit;
  switch (mnemonic) {
    case Mnemonic::amp_b:
    case Mnemonic::max_8b:
    case Mnemonic::ld_b:
    case Mnemonic::st_b:
    case Mnemonic::st_bh:
      return unit.i8.exists();
    case Mnemonic::amp_i16:
    case Mnemonic::max_i16:
    case Mnemonic::srs_i16:
    case Mnemonic::ld_i16:
    case Mnemonic::st_i16:
      return unit.i16.exists();
    case Mnemonic::amp_bf16:
    case Mnemonic::max_bf16:
    case Mnemonic::srs_bf16:
    case Mnemonic::ld_bf16:
    case Mnemonic::st_bf16:
      return unit.bf16.exists();
    default:
      return unit.has_vectors();
  }
}

void CostCounter::add(const Instruction& instruction, std::uint32_t pc) {
  const bool upper_half = pc % 8 == 4;
  const std::uint32_t alone = timing_->alone(instruction);
  std::int64_t slots = alone;
  paired_ = upper_half && may_pair_ && timing_->pairs(previous_, instruction);
  if (paired_) {
    slots = std::max<std::int64_t>(0, slots - timing_->alone(previous_));
  } else if (has_previous_) {
    slots += timing_->stall(previous_, instruction);
  }
  total_.slots += slots;
  total_.work += pack_work(1, paired_ ? 1 : 0, timing_->flops(instruction));
  done_.add(timing_->done(instruction));
  previous_ = instruction;
  has_previous_ = true;
  may_pair_ = !upper_half;
}

void CostCounter::restart() {
  total_ = Cost{};
  done_ = Done{};
  may_pair_ = false;
}

}  // namespace tessera::engine
