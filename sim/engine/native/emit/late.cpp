#include <map>
#include <set>

#include "sim/base/errors.h"
#include "sim/engine/native/emit/emitter.h"
#include "sim/engine/native/emit/layout.h"

/// Pending results when control leaves: of parts of 64-bit operations, and of instructions put off.
/// They are computed into memory first, so that none of them loses an operand.
namespace tessera::engine::native {

namespace x86 = asmjit::x86;
using asmjit::imm;
using enum isa::Mnemonic;
using Id = x86::Inst::Id;

namespace {
x86::Mem evaluated(std::size_t i) {
  return x86::dword_ptr(x86::rsp, stack::kEvaluated + 4 * static_cast<int>(i));
}
x86::Mem kept(int slot) { return x86::dword_ptr(x86::rsp, stack::kKept + 4 * slot); }
}  // namespace

/// True if nothing reads x before it changes, including pending operations.
bool Emitter::is_forgotten(unsigned x) const {
  const auto reads = [x](const isa::Instruction& is) { return is.rs1 == x || is.rs2 == x; };
  if (std::ranges::any_of(waiting_, reads)) return false;
  for (std::size_t i = 0; i < wide_.steps.size() && i <= position(); ++i)
    if (is_awaited(i) &&
        ((asks(i, 0) && part_at(i).rs1 == x) || (asks(i, 1) && part_at(i).rs2 == x)))
      return false;
  for (std::size_t i = 0; i < ahead_.size(); ++i) {
    const Step& step = ahead_[i];
    if ((step.sets.reads_x >> x & 1) != 0 || wide_.leaves[position() + 1 + i]) return false;
    if ((step.sets.writes_x >> x & 1) != 0) return true;
  }
  return false;
}

const isa::Instruction& Emitter::part_at(std::size_t i) const { return all_steps_[i].instruction; }

/// True for parts already passed whose results may still be needed.
bool Emitter::is_awaited(std::size_t part) const {
  const WideStep& step = wide_.steps[part];
  if (!step.done || step.operation >= 0 || part >= position()) return false;
  return step.at >= static_cast<int>(position()) || step.needed >= static_cast<int>(position());
}

/// The results of the wanted parts for code that leaves now, with the parts that they depend on.
std::vector<Emitter::Late> Emitter::late_parts(std::vector<std::size_t> wanted) const {
  const int now = static_cast<int>(position());
  std::set<std::size_t> all;
  while (!wanted.empty()) {
    const std::size_t part = wanted.back();
    wanted.pop_back();
    if (!all.insert(part).second) continue;
    for (std::size_t i = 0; i < 2; ++i) {
      const int from = wide_.steps[part].from[i];
      if (from >= 0 && asks(part, i) && is_evaluated(static_cast<std::size_t>(from)))
        wanted.push_back(static_cast<std::size_t>(from));
    }
  }
  std::map<int, Mem> where;
  std::vector<Late> made;
  for (const std::size_t part : all) {
    const isa::Instruction& is = part_at(part);
    const WideStep& step = wide_.steps[part];
    Late late{.mnemonic = is.mnemonic,
              .by = is.imm,
              .made = evaluated(made.size()),
              .part = static_cast<int>(part)};
    const auto operand = [&](std::size_t i, unsigned x) {
      if (!asks(part, i)) return Word{kept(step.slots[i]), false};
      const auto found = where.find(step.from[i]);
      return step.from[i] >= 0 && found != where.end() ? Word{found->second, false} : place(x);
    };
    late.first = operand(0, is.rs1);
    late.second = operand(1, is.rs2);
    if (step.needed >= now) late.to = last_place(is.rd);
    where[static_cast<int>(part)] = late.made;
    made.push_back(late);
  }
  return made;
}

/// True if the part's result is not in a register now.
bool Emitter::is_evaluated(std::size_t part) const {
  const WideStep& step = wide_.steps[part];
  return !step.result || step.at >= static_cast<int>(position());
}

/// True if the part's operand is not kept in memory but in its register.
bool Emitter::asks(std::size_t part, std::size_t operand) const {
  const WideStep& step = wide_.steps[part];
  return step.slots[operand] < 0 || step.at >= static_cast<int>(position());
}

std::vector<Emitter::Late> Emitter::late_parts() const {
  std::vector<std::size_t> wanted;
  for (std::size_t part = 0; part < wide_.steps.size() && part < position(); ++part) {
    const WideStep& step = wide_.steps[part];
    if (step.done && step.operation < 0 && step.needed >= static_cast<int>(position()))
      wanted.push_back(part);
  }
  return late_parts(std::move(wanted));
}

/// Keeps words in memory for code that leaves after the current operation. Uses rax.
void Emitter::keep(const Kept& words) {
  const auto [low, high] = words.words;
  settle_words(1U << low | 1U << high);
  if (high != 0 && mate_[low] == high) {
    a_.mov(kept(words.slot).cloneResized(8), wide_host(low));
    return;
  }
  fetch(place(low));
  a_.mov(kept(words.slot), x86::eax);
  if (high == 0) return;
  fetch(place(high));
  a_.mov(kept(words.slot + 1), x86::eax);
}

std::vector<Emitter::Late> Emitter::late() const {
  std::vector<Late> all = wide_.steps.empty() ? std::vector<Late>{} : late_parts();
  for (const isa::Instruction& is : waiting_) {
    all.push_back({is.mnemonic, is.imm, place(is.rs1), place(is.rs2), evaluated(all.size()),
                   last_place(is.rd)});
  }
  return all;
}

namespace {

/// The host instruction that does the same to eax; for comparisons, cmp.
Id instruction_for(isa::Mnemonic m) {
  switch (m) {
    case add:
    case addi:
      return x86::Inst::kIdAdd;
    case sub:
      return x86::Inst::kIdSub;
    case and_:
      return x86::Inst::kIdAnd;
    case or_:
      return x86::Inst::kIdOr;
    case xor_:
    case xori:
      return x86::Inst::kIdXor;
    case mul:
    case mulh:
    case mulhu:
      return x86::Inst::kIdImul;
    case slli:
      return x86::Inst::kIdShl;
    case srli:
      return x86::Inst::kIdShr;
    case srai:
      return x86::Inst::kIdSar;
    case sltu:
    case sltiu:
      return x86::Inst::kIdCmp;
    default:
      throw Defect("no result that is made late");
  }
}

bool reads_two(isa::Mnemonic m) { return (m >= add && m <= and_) || (m >= mul && m <= mulhu); }

}  // namespace

/// Loads a word into eax, with zeros above.
void Emitter::fetch(const Word& from) {
  if (from.upper) {
    a_.mov(x86::rax, from.at.as<Gp>().r64());
    a_.shr(x86::rax, imm(kWordBits));
  } else {
    a_.emit(x86::Inst::kIdMov, x86::eax, from.at);
  }
}

/// Computes a pending result into late.made and rax.
void Emitter::evaluate(const Late& late) {
  const isa::Mnemonic m = late.mnemonic;
  const x86::Mem second = x86::qword_ptr(x86::rsp, stack::kOperand);
  const auto fetch_all = [&](const Word& from) {
    fetch(from);
    if (m == mulh) a_.movsxd(x86::rax, x86::eax);
  };
  if (reads_two(m)) {
    fetch_all(late.second);
    a_.mov(second, x86::rax);
  }
  fetch_all(late.first);
  if (m == mulh || m == mulhu) {
    a_.imul(x86::rax, second);
    a_.shr(x86::rax, imm(kWordBits));
  } else if (reads_two(m)) {
    a_.emit(instruction_for(m), x86::eax, x86::dword_ptr(x86::rsp, stack::kOperand));
  } else {
    a_.emit(instruction_for(m), x86::eax, imm(late.by));
  }
  if (m == sltu || m == sltiu) {
    a_.set(x86::CondCode::kB, x86::al);
    a_.movzx(x86::eax, x86::al);
  }
  a_.mov(late.made, x86::eax);
}

}  // namespace tessera::engine::native
