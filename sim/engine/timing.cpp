#include "sim/engine/timing.h"

#include <algorithm>

#include "sim/base/types.h"
#include "sim/isa/registers.h"
#include "sim/isa/table.h"

namespace tessera::engine {

using isa::CostClass;
using isa::Instruction;
using isa::Mnemonic;

namespace {

// run, join, sync, exchange, load weights: the caller of the engine knows what they take.
bool costs_elsewhere(const Instruction& instruction) {
  switch (instruction.mnemonic) {
    case Mnemonic::run:
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

Done of_one(const Instruction& instruction, std::uint32_t slots) {
  const auto counts = isa::activity(instruction, slots);
  Done done;
  for (std::size_t i = 0; i < counts.size(); ++i) done.lanes[i] = counts[i];
  return done;
}

}  // namespace

std::uint32_t Timing::alone(const Instruction& instruction) const {
  if (costs_elsewhere(instruction)) return 0;
  if (role_ == Role::supervisor) return tile_.supervisor.plain_cycles;
  switch (isa::info(instruction.mnemonic).cost) {
    case CostClass::integer_multiply:
      return tile_.slots.integer_multiply;
    case CostClass::integer_divide:
      return tile_.slots.integer_divide;
    case CostClass::float_divide:
      return tile_.slots.float_divide;
    case CostClass::activation:
      return tile_.slots.activation;
    case CostClass::matrix:
      return matrix_slots(instruction);
    case CostClass::plain:
      break;
  }
  return std::max(tile_.slots.plain, memory_slots(instruction));
}

std::uint32_t Timing::branch_extra() const {
  if (role_ == Role::worker) return tile_.slots.branch_taken_extra;
  const std::uint32_t taken = tile_.supervisor.branch_taken_cycles;
  return taken - std::min(taken, tile_.supervisor.plain_cycles);
}

bool Timing::pairs(const Instruction& first, const Instruction& second) const {
  return role_ == Role::worker && tile_.dual_issue && isa::may_pair(first, second);
}

std::uint32_t Timing::stall(const Instruction& first, const Instruction& second) const {
  if (role_ == Role::worker || isa::info(first.mnemonic).bytes_loaded == 0) return 0;
  const isa::RegisterSets loaded = isa::registers(first);
  const isa::RegisterSets used = isa::registers(second);
  // An advanced address register is ready at once: only what came from memory makes wait.
  const bool integer_load = first.rd != 0 && loaded.writes_f == 0;
  const std::uint32_t integer = integer_load ? loaded.writes_x & (1U << first.rd) : 0;
  const bool waits = (integer & used.reads_x) != 0 || (loaded.writes_f & used.reads_f) != 0;
  return waits ? tile_.supervisor.load_use_stall_cycles : 0;
}

bool Timing::exists(const Instruction& instruction) const {
  return isa::info(instruction.mnemonic).cost != CostClass::matrix ||
         matrix_rate(instruction.mnemonic) != 0;
}

std::uint32_t Timing::cycles_per_slot() const { return role_ == Role::worker ? tile_.contexts : 1; }

std::uint32_t Timing::memory_slots(const Instruction& instruction) const {
  const isa::InstructionInfo& info = isa::info(instruction.mnemonic);
  return std::max(ceil_div<std::uint32_t>(info.bytes_loaded, tile_.load_bytes_per_slot),
                  ceil_div<std::uint32_t>(info.bytes_stored, tile_.store_bytes_per_slot));
}

std::uint32_t Timing::matrix_slots(const Instruction& instruction) const {
  constexpr std::uint32_t kFlopsOfMac = 2;
  const std::uint32_t macs = isa::info(instruction.mnemonic).flops / kFlopsOfMac;
  const std::uint32_t rate = matrix_rate(instruction.mnemonic);
  return rate == 0 ? 1 : ceil_div(macs, rate);
}

std::uint32_t Timing::matrix_rate(Mnemonic mnemonic) const {
  const MatrixUnitConfig& unit = tile_.matrix_unit;
  switch (mnemonic) {
    case Mnemonic::amp_h:
      return unit.f16_macs;
    case Mnemonic::amp_hs:
      return unit.f16_f32_macs;
    case Mnemonic::amp_s:
      return unit.f32_macs;
    default:
      return unit.i8_macs;
  }
}

void CostCounter::add(const Instruction& instruction, std::uint32_t pc) {
  const bool upper_half = pc % 8 == 4;
  const std::uint32_t alone = timing_->alone(instruction);
  std::int64_t slots = alone;
  const bool paired = upper_half && may_pair_ && timing_->pairs(previous_, instruction);
  if (paired) {
    slots = std::max<std::int64_t>(0, slots - timing_->alone(previous_));
  } else if (has_previous_) {
    slots += timing_->stall(previous_, instruction);
  }
  total_.slots += slots;
  total_.work += pack_work(1, isa::flops(instruction));
  done_.lanes += of_one(instruction, alone).lanes;
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
