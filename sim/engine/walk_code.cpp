#include "sim/engine/walk_code.h"

#include <cstring>

#include "sim/engine/instruction_kind.h"
#include "sim/isa/decode.h"
#include "sim/isa/table.h"

namespace tessera::engine {
namespace {

using isa::IssueClass;
using isa::Mnemonic;

std::uint32_t bit(std::uint32_t reg) { return reg == 0 || reg >= kSink ? 0 : 1U << reg; }

std::uint32_t number_of(isa::Field field, const isa::Instruction& instruction) {
  switch (field) {
    case isa::Field::rd:
      return instruction.rd;
    case isa::Field::rs1:
      return instruction.rs1;
    case isa::Field::rs2:
      return instruction.rs2;
    case isa::Field::rs3:
      return instruction.rs3;
    case isa::Field::t3:
      return 28;
    case isa::Field::t4:
      return 29;
    case isa::Field::t5:
      return 30;
    case isa::Field::none:
      break;
  }
  return 0;
}

bool is_of_x(const isa::Operand& operand) {
  using isa::Shape;
  return operand.shape == Shape::x_register || operand.shape == Shape::address ||
         operand.shape == Shape::displaced || operand.shape == Shape::implicit;
}

bool stores_integer(Mnemonic mnemonic) {
  return mnemonic == Mnemonic::sb || mnemonic == Mnemonic::sh || mnemonic == Mnemonic::sw ||
         mnemonic == Mnemonic::sw_p || mnemonic == Mnemonic::sh_p;
}

bool indexes(Mnemonic mnemonic) {
  return mnemonic == Mnemonic::lgx_h || mnemonic == Mnemonic::lgx_s ||
         mnemonic == Mnemonic::lgx_d || mnemonic == Mnemonic::lgn_d ||
         mnemonic == Mnemonic::sgx_d || mnemonic == Mnemonic::sgx_s;
}

WalkCode::Kind kind_of(const isa::Instruction& instruction, bool writes_x) {
  using Kind = WalkCode::Kind;
  const Mnemonic mnemonic = instruction.mnemonic;
  if (mnemonic == Mnemonic::ebreak) return Kind::illegal;
  if (mnemonic == Mnemonic::jal) return Kind::jump;
  if (mnemonic == Mnemonic::jalr) return Kind::jump_register;
  if (mnemonic == Mnemonic::rpt) return Kind::loop;
  if (is_csr(mnemonic)) return Kind::csr;
  switch (isa::info(mnemonic).issue) {
    case IssueClass::branch:
      return Kind::branch;
    case IssueClass::memory:
      return Kind::access;
    case IssueClass::integer:
      return writes_x ? Kind::arithmetic : Kind::nothing;  // nothing: the vector unit's mode
    case IssueClass::floating:
      return writes_x ? Kind::unknown_rd : Kind::nothing;
    case IssueClass::control:
      return is_straight(instruction) ? Kind::nothing : Kind::stop;
  }
  return Kind::illegal;
}

WalkCode::Step decoded(std::uint32_t word, std::uint32_t pc) {
  WalkCode::Step step;
  step.next = pc + kBytesOfInstruction;
  const std::optional<isa::Instruction> instruction = isa::decode(word);
  if (!instruction) return step;
  step.instruction = *instruction;
  set_operands(step.op, *instruction, pc);
  bool writes_x = false;
  step.stores_x = stores_integer(instruction->mnemonic);
  for (const isa::Operand& operand : isa::info(instruction->mnemonic).operands) {
    if (!is_of_x(operand)) continue;
    writes_x |= operand.writes && operand.field == isa::Field::rd;
    if (!operand.reads) continue;
    const std::uint32_t reg = number_of(operand.field, *instruction);
    if (step.stores_x && operand.field == isa::Field::rs2) {
      step.stored = static_cast<std::uint8_t>(reg);
      continue;
    }
    step.reads |= bit(reg);
    step.moves |= operand.token.starts_with('+');
    // The index's address comes before the indexed address.
    if (operand.shape != isa::Shape::x_register || indexes(instruction->mnemonic))
      step.bases.push_back(static_cast<std::uint8_t>(reg));
    else
      step.others |= bit(reg);
  }
  if (indexes(instruction->mnemonic)) std::ranges::reverse(step.bases);
  step.kind = kind_of(*instruction, writes_x);
  step.uses = step.reads | bit(step.stored);
  step.sets = writes_x ? bit(instruction->rd) : 0;
  step.loads_x = step.kind == WalkCode::Kind::access && writes_x;
  step.loads_index = indexes(instruction->mnemonic);
  return step;
}

}  // namespace

WalkCode::WalkCode(std::span<const std::byte> bytes, Role role)
    : role_(role), steps_(bytes.size() / kBytesOfInstruction) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    std::uint32_t word;
    std::memcpy(&word, bytes.data() + i * kBytesOfInstruction, sizeof word);
    steps_[i] = decoded(word, static_cast<std::uint32_t>(i) * kBytesOfInstruction);
  }
  for (std::size_t i = steps_.size(); i-- > 1;)
    if (steps_[i].kind == Kind::nothing) steps_[i - 1].next = steps_[i].next;
  end_.instruction.mnemonic = Mnemonic::xctl;
  end_.kind = role == Role::worker ? Kind::stop : Kind::illegal;
}

const WalkCode::Step* WalkCode::at(std::uint32_t pc) const {
  if (pc == kReturnAddress) return &end_;
  if (pc % kBytesOfInstruction != 0 || pc / kBytesOfInstruction >= steps_.size()) return nullptr;
  return &steps_[pc / kBytesOfInstruction];
}

}  // namespace tessera::engine
