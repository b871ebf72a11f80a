#include "sim/engine/taint_walk.h"

#include <algorithm>
#include <cstring>

#include "sim/engine/csr.h"
#include "sim/engine/hart.h"
#include "sim/engine/instruction_kind.h"
#include "sim/engine/semantics/integer.h"
#include "sim/engine/semantics/integer_unit.h"
#include "sim/engine/semantics/memory.h"
#include "sim/isa/decode.h"
#include "sim/isa/table.h"

namespace tessera::engine {
namespace {

using isa::IssueClass;
using isa::Mnemonic;

constexpr std::uint32_t kWordBytes = 4;
constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 33;

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
      return writes_x ? Kind::arithmetic : Kind::nothing;  // nothing: the int8 unit's mode
    case IssueClass::floating:
      return writes_x ? Kind::unknown_rd : Kind::nothing;
    case IssueClass::control:
      return is_straight(instruction) ? Kind::nothing : Kind::stop;
  }
  return Kind::illegal;
}

WalkCode::Step decoded(std::uint32_t word, std::uint32_t pc) {
  WalkCode::Step step;
  step.next = pc + kWordBytes;
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
    // The address that is indexed stands behind that of the index.
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
    : role_(role), steps_(bytes.size() / kWordBytes) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    std::uint32_t word;
    std::memcpy(&word, bytes.data() + i * kWordBytes, sizeof word);
    steps_[i] = decoded(word, static_cast<std::uint32_t>(i) * kWordBytes);
  }
  for (std::size_t i = steps_.size(); i-- > 1;)
    if (steps_[i].kind == Kind::nothing) steps_[i - 1].next = steps_[i].next;
  end_.instruction.mnemonic = Mnemonic::xctl;
  end_.kind = role == Role::worker ? Kind::stop : Kind::illegal;
}

const WalkCode::Step* WalkCode::at(std::uint32_t pc) const {
  if (pc == kReturnAddress) return &end_;
  if (pc % kWordBytes != 0 || pc / kWordBytes >= steps_.size()) return nullptr;
  return &steps_[pc / kWordBytes];
}

/// What one instruction sees of a walk: semantics/ execute with it as with the engine's Hart.
class WalkHart {
 public:
  struct Mode {
    static constexpr bool kHostRounding = false;
    static constexpr bool kRecords = true;
    static constexpr bool kQuick = false;
  };

  WalkHart(TaintWalk& walk, const WalkCode::Step& step, bool stores_known = false)
      : walk_(walk), step_(step), context_(walk.context_), stores_known_(stores_known) {}

  [[nodiscard]] std::uint32_t imm() const { return static_cast<std::uint32_t>(step_.op.imm); }
  [[nodiscard]] std::uint32_t rs1() const { return context_.x[step_.op.rs1]; }
  [[nodiscard]] std::uint32_t rs2() const { return context_.x[step_.op.rs2]; }
  void rd(std::uint32_t value) { context_.x[step_.op.rd] = value; }
  // Numbers of f registers are anything.
  [[nodiscard]] std::uint64_t fd() const { return 0; }
  [[nodiscard]] std::uint64_t fs1() const { return 0; }
  [[nodiscard]] std::uint64_t fs2() const { return 0; }
  [[nodiscard]] std::uint64_t fs3() const { return 0; }
  void fd(std::uint64_t /*value*/) {}
  void fd_f32(std::uint32_t /*value*/) {}

  [[nodiscard]] const Op& op() const { return step_.op; }
  Context& context() { return context_; }
  void advance(std::uint8_t number, std::uint32_t bytes) {
    context_.x[number] += bytes;
    context_.x[0] = 0;
  }

  template <class T>
  bool load(std::uint32_t address, T& value) {
    value = {};
    if (!within<T>(address)) return walk_.refuse(kUnknown, "a load that faults");
    const bool index = step_.loads_index && loads_++ == 0;
    const bool is_number = step_.loads_x || index;
    if (is_number) {
      std::memcpy(&value, walk_.memory_.bytes() + address, sizeof value);
      loaded_ = walk_.memory_.read(address, sizeof(T), walk_.who_, walk_.sets_);
    }
    if (walk_.recorder_ != nullptr) record_load(address, value, is_number, index);
    return !index || loaded_ == kKnown || walk_.refuse(loaded_, "an index that is a value");
  }
  template <class T>
  bool store(std::uint32_t address, T value) {
    if (!within<T>(address)) return walk_.refuse(kUnknown, "a store that faults");
    if (!walk_.memory_.write(address, sizeof(T), walk_.who_, stores_known_ ? &value : nullptr))
      return walk_.refuse(kUnknown, "a store over what has decided");
    if (stores_known_) std::memcpy(walk_.memory_.bytes() + address, &value, sizeof value);
    if (walk_.recorder_ != nullptr)
      walk_.recorder_->store(
          address, sizeof(T),
          stores_known_ ? std::optional<std::uint32_t>(step_.stored) : std::nullopt);
    return true;
  }
  template <class T>
  bool may_store(std::uint32_t address) {
    return within<T>(address) || walk_.refuse(kUnknown, "a store that faults");
  }
  [[nodiscard]] Taint loaded() const { return loaded_; }

 private:
  template <class T>
  void record_load(std::uint32_t address, T value, bool is_number, bool index) {
    CallRecorder& recorder = *walk_.recorder_;
    if (is_number && loaded_ == kKnown)
      recorder.load_known(address, sizeof(T), std::is_signed_v<T>,
                          static_cast<std::uint32_t>(static_cast<std::int32_t>(value)), index);
    else
      recorder.load(address, sizeof(T));
    if (index) recorder.begin_access(std::span(step_.bases).subspan(1), 0);
  }
  template <class T>
  [[nodiscard]] bool within(std::uint32_t address) const {
    return address % sizeof(T) == 0 && std::uint64_t{address} + sizeof(T) <= walk_.memory_.size();
  }

  TaintWalk& walk_;
  const WalkCode::Step& step_;
  Context& context_;
  bool stores_known_;
  int loads_ = 0;
  Taint loaded_ = kKnown;
};

namespace {

template <Mnemonic M>
concept Executes = requires(WalkHart& hart) {
  semantics::execute(Is<M>{}, hart);
};
template <Mnemonic M>
concept Decides = requires(WalkHart& hart) {
  semantics::taken(Is<M>{}, hart);
};

/// Executes an instruction that changes x registers or memory; false if it was refused.
bool perform(Mnemonic mnemonic, WalkHart& hart) {
  const auto execute = []<Mnemonic M>(Is<M> which, WalkHart& with) {
    constexpr IssueClass kIssue = isa::info(M).issue;
    if constexpr ((kIssue == IssueClass::integer || kIssue == IssueClass::memory) && Executes<M>) {
      if constexpr (std::is_void_v<decltype(semantics::execute(which, with))>)
        return semantics::execute(which, with), true;
      else
        return semantics::execute(which, with);
    } else {
      return false;
    }
  };
  switch (mnemonic) {
#define X(id, ...)   \
  case Mnemonic::id: \
    return execute(Is<Mnemonic::id>{}, hart);
#include "sim/isa/table.def"
  }
  return false;
}

bool takes(Mnemonic mnemonic, WalkHart& hart) {
  const auto taken = []<Mnemonic M>(Is<M> which, WalkHart& with) {
    if constexpr (Decides<M>)
      return semantics::taken(which, with);
    else
      return false;
  };
  switch (mnemonic) {
#define X(id, ...)   \
  case Mnemonic::id: \
    return taken(Is<Mnemonic::id>{}, hart);
#include "sim/isa/table.def"
  }
  return false;
}

}  // namespace

TaintWalk::TaintWalk(const WalkCode& code, Context& context, TaintedMemory& memory, TaintSets& sets)
    : code_(code),
      context_(context),
      memory_(memory),
      sets_(sets),
      who_(code.role() == Role::worker ? TaintedMemory::Who::worker
                                       : TaintedMemory::Who::supervisor),
      loads_anywhere_(code.role() == Role::worker) {}

void TaintWalk::forget_registers() {
  taints_.fill(kUnknown);
  taints_[0] = kKnown;
  tainted_ = ~1U;
}

void TaintWalk::know(std::uint32_t reg, std::uint32_t value) {
  context_.x[reg] = value;
  set_taint(reg, kKnown);
}

void TaintWalk::set_taint(std::uint32_t reg, Taint taint) {
  if (reg == 0 || reg >= kSink) return;
  taints_[reg] = taint;
  tainted_ = taint == kKnown ? tainted_ & ~(1U << reg) : tainted_ | 1U << reg;
}

Taint TaintWalk::taint_of(std::uint32_t registers) {
  std::uint32_t left = registers & tainted_;
  Taint taint = kKnown;
  for (; left != 0; left &= left - 1)
    taint = sets_.join(taint, taints_[static_cast<std::size_t>(std::countr_zero(left))]);
  return taint;
}

bool TaintWalk::refuse(Taint taint, const char* what) {
  const std::span<const std::uint32_t> buffers = sets_.buffers(taint);
  refusal_ = {what, pc_, {buffers.begin(), buffers.end()}};
  return false;
}

bool TaintWalk::require_known(std::uint32_t registers, const char* what) {
  if ((registers & tainted_) == 0) return true;
  return refuse(taint_of(registers), what);
}

bool TaintWalk::arithmetic(const Step& step) {
  const Taint taint = taint_of(step.reads);
  if (recorder_ != nullptr) {
    if (taint == kKnown)
      recorder_->arithmetic(step.instruction.mnemonic, step.op, step.reads);
    else
      recorder_->forget(step.op.rd);
  }
  if (taint == kKnown) {
    WalkHart hart(*this, step);
    perform(step.instruction.mnemonic, hart);
  }
  set_taint(step.op.rd, taint);
  return true;
}

/// A load takes the same wherever it loads from, and what it loads is then a value. Left out: that
/// it may fault. Addresses that could be looked up are.
bool TaintWalk::load_anywhere(const Step& step, Taint address) {
  const isa::InstructionInfo& info = isa::info(step.instruction.mnemonic);
  if (!loads_anywhere_ || info.bytes_loaded == 0 || info.bytes_stored != 0 || step.loads_index ||
      !sets_.buffers(address).empty())
    return refuse(address, "an address that is a value");
  const auto becomes_value = [&](std::uint8_t reg) {
    set_taint(reg, address);
    if (recorder_ != nullptr) recorder_->forget(reg);
  };
  std::ranges::for_each(step.bases, becomes_value);
  if (step.loads_x) becomes_value(step.op.rd);
  return true;
}

bool TaintWalk::access(const Step& step) {
  if ((step.reads & tainted_) != 0) return load_anywhere(step, taint_of(step.reads));
  if (recorder_ != nullptr)
    recorder_->begin_access(std::span(step.bases).first(step.loads_index ? 1 : step.bases.size()),
                            step.others, step.moves);
  WalkHart hart(*this, step, step.stores_x && taints_[step.stored] == kKnown);
  if (!perform(step.instruction.mnemonic, hart)) return false;
  if (!step.loads_x) return true;
  set_taint(step.op.rd, hart.loaded());
  if (recorder_ != nullptr) {
    if (hart.loaded() == kKnown)
      recorder_->loaded(step.op.rd);
    else
      recorder_->forget(step.op.rd);
  }
  return true;
}

/// A jump leaves where it came from.
void TaintWalk::link(const Step& step) {
  context_.x[step.op.rd] = pc_ + kWordBytes;
  set_taint(step.op.rd, kKnown);
  if (recorder_ != nullptr) recorder_->forget(step.op.rd);
}

/// Branches and jumps: sets pc_.
bool TaintWalk::control(const Step& step) {
  const auto distance = static_cast<std::uint32_t>(step.instruction.imm);
  switch (step.kind) {
    case WalkCode::Kind::branch: {
      if (!require_known(step.reads, "a branch on a value")) return false;
      if (recorder_ != nullptr)
        recorder_->compare(step.instruction.mnemonic, step.op.rs1, step.op.rs2);
      WalkHart hart(*this, step);
      pc_ = takes(step.instruction.mnemonic, hart) ? pc_ + distance : step.next;
      return true;
    }
    case WalkCode::Kind::jump:
      link(step);
      pc_ += distance;
      return true;
    case WalkCode::Kind::jump_register: {
      if (!require_known(step.reads, "a jump to a value")) return false;
      if (recorder_ != nullptr) recorder_->decide(step.reads);
      const std::uint32_t target = (context_.x[step.op.rs1] + distance) & ~1U;
      link(step);
      pc_ = target;
      return true;
    }
    default:
      if (!require_known(step.reads, "a count that is a value")) return false;
      if (recorder_ != nullptr) recorder_->decide(step.reads);
      loops_left_ = context_.x[step.op.rs1];
      loop_begin_ = pc_ + kWordBytes;
      loop_end_ = pc_ + distance;
      if (loops_left_ == 0 || loop_end_ <= loop_begin_)
        return refuse(kUnknown, "a loop that faults");
      pc_ = loop_begin_;
      return true;
  }
}

bool TaintWalk::csr(const Step& step) {
  constexpr std::uint32_t kFlags = 1, kRounding = 2, kBoth = 3, kStatus = 0x300;
  constexpr std::uint32_t kWorker = 0xcc0, kWorkers = 0xcc2;
  constexpr std::uint32_t kModes = 5;  // of rounding
  const auto number = static_cast<std::uint32_t>(step.instruction.imm);
  const bool floating = number == kFlags || number == kRounding || number == kBoth;
  if (!require_known(step.reads, "a mode that is a value")) return false;
  if (!execute_csr(step.instruction, context_, 0, 0))
    return refuse(kUnknown, "a register that faults");
  if ((context_.fcsr >> kModes) > 4) return refuse(kUnknown, "a rounding mode that does not exist");
  const bool known = !floating && (number == kWorker || number == kWorkers || number == kStatus);
  set_taint(step.instruction.rd, known ? kKnown : kUnknown);
  if (recorder_ != nullptr) {
    recorder_->decide(step.reads);
    recorder_->forget(step.instruction.rd);
  }
  return true;
}

/// A worker's transfer with memory outside.
bool TaintWalk::transfer(const Step& step) {
  const isa::Instruction& its = step.instruction;
  if (!require_known(step.reads, "a transfer of an address or size that is a value")) return false;
  if (recorder_ != nullptr) recorder_->leave_out();
  const std::uint32_t address = context_.x[its.rs1];
  const std::uint32_t bytes = context_.x[its.rd];
  if (std::uint64_t{address} + bytes > memory_.size())
    return refuse(kUnknown, "a transfer that faults");
  if (its.mnemonic == Mnemonic::ldma && !memory_.write(address, bytes, who_, nullptr))
    return refuse(kUnknown, "a transfer over what has decided");
  return true;
}

bool TaintWalk::stop(const Step& step, Exit& exit, bool& stopped) {
  const isa::Instruction& its = step.instruction;
  const auto imm = static_cast<std::uint32_t>(its.imm);
  exit = {stop_of(its), Fault::none, pc_, 0, {}};
  stopped = exit.stop != Stop::dma;
  switch (exit.stop) {
    case Stop::dma:
      return transfer(step);
    case Stop::run:
      if (!require_known(step.reads, "a worker whose code or arguments are a value")) return false;
      exit.operand[0] = context_.x[its.rs1];
      exit.operand[1] = context_.x[its.rs2];
      exit.operand[2] = context_.x[its.rd];
      exit.operand[3] = imm;
      return true;
    case Stop::load_weights: {
      if (!require_known(step.reads, "an address that is a value")) return false;
      const std::uint32_t words = ((imm >> 6 & 0x3fU) + 1) << (imm >> 12);
      if (its.rs1 != 0) context_.x[its.rs1] += 8 * words;
      return true;
    }
    case Stop::exchange_start:
    case Stop::exchange_wait:
      exit.operand[0] = context_.x[its.rs1];
      return true;
    case Stop::environment_call:
      return refuse(kUnknown, "a call of the environment");
    default:
      return true;
  }
}

bool TaintWalk::run(Exit& exit) {
  using Kind = WalkCode::Kind;
  pc_ = context_.pc;
  for (;;) {
    const Step* const step = code_.at(pc_);
    if (step == nullptr) return refuse(kUnknown, "a jump out of the code");
    if (++steps_ > kMostSteps) return refuse(kUnknown, "code that goes on for long");
    std::uint32_t next = step->next;
    bool done = true;
    bool stopped = false;
    if (recorder_ != nullptr) recorder_->begin(step->uses, step->sets);
    switch (step->kind) {
      case Kind::nothing:
        if (loops_left_ != 0 && pc_ == loop_begin_ && next >= loop_end_) loops_left_ = 1;
        break;
      case Kind::unknown_rd:
        set_taint(step->op.rd, kUnknown);
        if (recorder_ != nullptr) recorder_->forget(step->op.rd);
        break;
      case Kind::arithmetic:
        done = arithmetic(*step);
        break;
      case Kind::access:
        done = access(*step);
        break;
      case Kind::branch:
      case Kind::jump:
      case Kind::jump_register:
      case Kind::loop:
        if (!control(*step)) return false;
        continue;
      case Kind::csr:
        done = csr(*step);
        break;
      case Kind::stop:
        done = stop(*step, exit, stopped);
        break;
      case Kind::illegal:
        return refuse(kUnknown, "an instruction that faults");
    }
    if (!done) return false;
    if (loops_left_ != 0 && next >= loop_end_) next = --loops_left_ != 0 ? loop_begin_ : loop_end_;
    pc_ = next;
    if (stopped) {
      context_.pc = exit.pc + kWordBytes;
      return true;
    }
  }
}

}  // namespace tessera::engine
