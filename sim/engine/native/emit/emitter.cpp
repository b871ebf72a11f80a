#include "sim/engine/native/emit/emitter.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "sim/engine/native/emit/layout.h"
#include "sim/engine/native/translation.h"

namespace tessera::engine::native {

namespace x86 = asmjit::x86;
using asmjit::imm;

Emitter::Emitter(asmjit::CodeHolder& code, Region& region, const Setting& setting)
    : a_(&code),
      region_(region),
      loops_(find_loops(region, setting.timed, setting.most_steps)),
      setting_(setting),
      allocation_(
          analyse(region, loops_, kHosts, setting.counts ? kHostsF - kDoneVectors : kHostsF)) {
  region.keep(loops_.kept);
  for (Label* each : {&common_entry_, &common_exit_, &fallback_}) *each = a_.newLabel();
  for (std::size_t i = 0; i < region.nodes.size(); ++i) {
    entries_.push_back(a_.newLabel());
    nodes_.push_back(a_.newLabel());
  }
}

std::vector<Emitter::Label> Emitter::emit() {
  for (std::size_t i = 0; i < region_.nodes.size(); ++i)
    if (region_.nodes[i].kept) emit_node(i);
  for (const Leaving& each : leavings_) {
    a_.bind(each.label);
    settle(each.debt);
    if (each.turns.counted) count_loops(each.turns.times);
    account(each.turns);
    leave(each.op, each.pipeline_state);
  }
  for (std::size_t i = 0; i < cold_.size(); ++i) {  // they may add to the list
    const Cold each = cold_[i];
    a_.bind(each.label);
    each.code();
  }
  emit_common_exit();
  for (std::size_t i = 0; i < region_.nodes.size(); ++i)
    if (region_.nodes[i].kept) emit_entry(i);
  emit_common_entry();
  emit_constants();
  return entries_;
}

/// Called like a handler: rdi op, rsi context, rdx memory, rcx frame, r8 slots, r9 work.
void Emitter::emit_entry(std::size_t number) {
  const Node& node = region_.nodes[number];
  a_.bind(entries_[number]);
  a_.cmp(x86::dword_ptr(x86::rcx, frame_at::kSize), imm(setting_.size));
  a_.jne(fallback_);
  a_.cmp(x86::dword_ptr(x86::rcx, frame_at::kCodeEnd), imm(setting_.code_end));
  a_.jne(fallback_);
  if (setting_.timed) {
    a_.cmp(x86::qword_ptr(x86::rcx, frame_at::kTrace), imm(0));
    a_.jne(fallback_);
    a_.mov(x86::rax, imm(reinterpret_cast<std::uint64_t>(node.pipeline_state)));
    a_.cmp(x86::qword_ptr(x86::rsi, context_at::kPipelineState), x86::rax);
    a_.jne(fallback_);
  }
  for (std::uint32_t left = allocation_.singles[number]; left != 0; left &= left - 1) {
    const int f = std::countr_zero(left);
    a_.cmp(x86::dword_ptr(x86::rsi, context_at::f(static_cast<unsigned>(f)) + 4), imm(-1));
    a_.jne(fallback_);
  }
  a_.lea(x86::rax, x86::ptr(nodes_[number]));
  a_.jmp(common_entry_);
}

void Emitter::emit_common_entry() {
  a_.bind(common_entry_);
  for (const x86::Gp& saved : kSaved) a_.push(saved);
  a_.sub(x86::rsp, imm(stack::kBytes));
  a_.mov(x86::qword_ptr(x86::rsp, stack::kFrame), x86::rcx);
  a_.mov(x86::rbp, x86::rdx);
  a_.mov(x86::rdx, x86::qword_ptr(x86::rcx, frame_at::kNext));
  a_.mov(x86::qword_ptr(x86::rsp, stack::kNext), x86::rdx);
  a_.mov(x86::rbx, x86::rsi);
  a_.emit(x86::Inst::kIdMov, slots(), x86::r8);
  a_.emit(x86::Inst::kIdMov, work(), x86::r9);
  if (region_.loops) {
    a_.mov(x86::edx, x86::dword_ptr(x86::rcx, frame_at::kLoopsLeft));
    if (hosted(kLoopCounter))
      a_.mov(host(kLoopCounter), x86::edx);
    else
      a_.mov(home(kLoopCounter), x86::edx);
  }
  for (unsigned r = 1; r < 32; ++r)
    if (hosted(r)) a_.mov(host(r), home(r));
  for (unsigned r = 0; r < 32; ++r)
    if (hosted_f(r)) a_.vmovq(host_f(r), home_f(r));
  zero_done();
  a_.jmp(x86::rax);
  a_.bind(fallback_);
  a_.mov(x86::rdi, x86::qword_ptr(x86::rdi, kOriginalAt));
  a_.jmp(x86::qword_ptr(x86::rdi, op_at::kHandler));
}

/// Goes to the handler in rax with the Op in rdx.
void Emitter::emit_common_exit() {
  a_.bind(common_exit_);
  for (unsigned r = 1; r < 32; ++r)
    if (hosted(r) && (allocation_.written_x >> r & 1) != 0) a_.mov(home(r), host(r));
  for (unsigned r = 0; r < 32; ++r)
    if (hosted_f(r) && (allocation_.written_f >> r & 1) != 0) a_.vmovq(home_f(r), host_f(r));
  if (region_.loops) {
    if (hosted(kLoopCounter))
      a_.mov(x86::edi, host(kLoopCounter));
    else
      a_.mov(x86::edi, home(kLoopCounter));
  }
  a_.mov(x86::rcx, x86::qword_ptr(x86::rsp, stack::kFrame));
  if (region_.loops) a_.mov(x86::dword_ptr(x86::rcx, frame_at::kLoopsLeft), x86::edi);
  flush_done();
  a_.mov(x86::rdi, x86::rdx);
  a_.mov(x86::rsi, x86::rbx);
  a_.mov(x86::rdx, x86::rbp);
  a_.emit(x86::Inst::kIdMov, x86::r8, slots());
  a_.emit(x86::Inst::kIdMov, x86::r9, work());
  a_.add(x86::rsp, imm(stack::kBytes));
  for (std::size_t i = std::size(kSaved); i > 0; --i) a_.pop(kSaved[i - 1]);
  a_.jmp(x86::rax);
}

void Emitter::zero_done() {
  if (!setting_.counts) return;
  for (unsigned i = 0; i < kDoneVectors; ++i) {
    const x86::Xmm done = x86::xmm(kFirstDone + i);
    a_.vpxor(done, done, done);
  }
}

/// Adds the activities counted so far to the frame at rcx.
void Emitter::flush_done() {
  if (!setting_.counts) return;
  for (unsigned i = 0; i < kDoneVectors; ++i) {
    const x86::Mem at = x86::ptr(x86::rcx, frame_at::kDone + static_cast<int>(32 * i));
    a_.vpaddd(x86::ymm(kFirstDone + i), x86::ymm(kFirstDone + i), at);
    a_.vmovdqu(at, x86::ymm(kFirstDone + i));
  }
  a_.vzeroupper();
}

void Emitter::emit_node(std::size_t number) {
  const Node& node = region_.nodes[number];
  number_ = number;
  start_singles(number);
  constexpr std::uint32_t kLine = 16;
  a_.align(asmjit::AlignMode::kCode, kLine);
  a_.bind(nodes_[number]);
  again_ = nodes_[number];
  emitted_ = number;
  const std::span<const Step> steps = node.steps;
  const std::optional<Hyperblock>& loop = loops_.of[number];
  const std::uint32_t times = loop ? turns_in_a_row(*loop) : 1;
  if (!loop || (times == 1 && !loop->inner)) return emit_steps(steps);
  if (!loop->loop) {
    emit_stretch(*loop);
    return emit_steps(steps);
  }
  emit_turns(*loop, times);
  const Step& back = loop->steps.back();
  const bool ends = back.kind != Kind::branch;
  const std::span<const Step> all = region_.nodes[back.node].steps;
  const std::span<const Step> rest =
      all.subspan(ends ? all.size() : static_cast<std::size_t>(back.op - all.front().op) + 1);
  const bool own = back.node == number;
  emit_steps(own ? steps.first(steps.size() - rest.size()) : steps);
  if (rest.empty()) return;
  if (own) {
    settle_all();
    behind_known_ &= singles_.known;
  } else {
    again_ = nodes_[number];
  }
  a_.bind(behind_);
  singles_ = {.known = behind_known_};
  emit_steps(rest);
}

void Emitter::begin_steps(std::span<const Step> steps) {
  ahead_ = steps;
  plan_ = plan_addresses(steps);
  access_ = 0;
  begin_node();
  begin_wide(steps);
}

/// Emits steps at whose start nothing is known but singles_.
void Emitter::emit_steps(std::span<const Step> steps) {
  begin_steps(steps);
  for (const Step& step : steps) emit_step(step);
}

void Emitter::emit_step(const Step& step) {
  ++step_;
  ahead_ = ahead_.subspan(1);
  if (step.kind != Kind::straight) before(step);
  switch (step.kind) {
    case Kind::straight: {
      if (step_ == done_with_ || emit_wide(step) || emit_put_off(step) ||
          emit_wide_product(step.instruction))
        return;
      const isa::Instruction& is = step.instruction;
      const std::size_t accesses = accesses_of(is).count;
      const bool done = emit_integer(is, step) || emit_memory(is, step) || emit_float(is, step) ||
                        emit_packed(is, step);
      if (!done) emit_call(step);
      access_ += accesses;
      singles_.known = (singles_.known & ~std::uint64_t{step.sets.writes_f}) | writes_boxed(step);
      return;
    }
    case Kind::branch:
      return emit_branch(step);
    case Kind::jump:
      return emit_jump(step);
    case Kind::jump_register:
      return emit_jump_register(step);
    case Kind::loop:
      return emit_loop(step);
    case Kind::loop_end:
      return emit_loop_end(step);
    case Kind::fall_through:
      return take(region_.exit_of(step));
    case Kind::leave:
      settle(debt());
      return leave(step.op, region_.nodes[step.node].pipeline_state);
    case Kind::pass:
      return owe(region_.exit_of(step));
    case Kind::choose:
      settle_wide();
      return emit_choice(step);
  }
}

/// Calls the interpreter's semantics for the step.
void Emitter::emit_call(const Step& step) {
  const bool directed =
      step.op->handler == setting_.handlers->directed[isa::index(step.instruction.mnemonic)];
  const Performer perform = performer(step.instruction.mnemonic, directed);
  if (perform == nullptr) {
    a_.jmp(leave_before(step));
    return;
  }
  end_tallies();
  settle_all();
  begin_node();  // no x register has a turn now
  singles_.computed = 0;
  mask_of_ = nullptr;
  save_for_call(step.sets);
  a_.mov(x86::rcx, x86::qword_ptr(x86::rsp, stack::kFrame));
  flush_done();
  a_.mov(x86::rdi, imm(reinterpret_cast<std::uint64_t>(step.op)));
  a_.mov(x86::rsi, x86::rbx);
  a_.mov(x86::rdx, x86::rbp);
  a_.mov(x86::rax, imm(reinterpret_cast<std::uint64_t>(perform)));
  a_.call(x86::rax);
  restore_after_call(step.sets);
  zero_done();
  zero_tallies();
  a_.test(x86::al, x86::al);
  a_.jz(leave_before(step));
}

namespace {
/// True if calls preserve the host register.
bool survives(std::int8_t host) {
  return host != kHome && static_cast<unsigned>(host) < kSurviving;
}
}  // namespace

void Emitter::save_for_call(const isa::RegisterSets& sets) {
  for (unsigned r = 1; r <= kLoopCounter; ++r) {
    const bool counter = r == kLoopCounter;
    const bool read = !counter && (sets.reads_x >> r & 1) != 0;
    const bool written = (allocation_.written_x >> r & 1) != 0;
    if (hosted(r) && written && (read || !survives(allocation_.x[r]))) a_.mov(home(r), host(r));
  }
  for (unsigned r = 0; r < 32; ++r)
    if (hosted_f(r) && (allocation_.written_f >> r & 1) != 0) a_.vmovq(home_f(r), host_f(r));
}

void Emitter::restore_after_call(const isa::RegisterSets& sets) {
  for (unsigned r = 1; r <= kLoopCounter; ++r) {
    const bool written = r != kLoopCounter && (sets.writes_x >> r & 1) != 0;
    if (hosted(r) && (written || !survives(allocation_.x[r]))) a_.mov(host(r), home(r));
  }
  for (unsigned r = 0; r < 32; ++r)
    if (hosted_f(r)) a_.vmovq(host_f(r), home_f(r));
}

Emitter::Label Emitter::leave_before(const Step& at) {
  const Step& step = branch_ != nullptr ? *branch_ : at;
  const PipelineState* const pipeline_state = region_.nodes[step.node].pipeline_state;
  Debt now = debt();
  if (!leavings_.empty()) {
    const Leaving& last = leavings_.back();
    if (last.op == step.op && last.pipeline_state == pipeline_state && last.turns == turns_ &&
        last.debt == now)
      return last.label;
  }
  leavings_.push_back({a_.newLabel(), step.op, pipeline_state, turns_, std::move(now)});
  return leavings_.back().label;
}

void Emitter::leave(const Op* op, const PipelineState* pipeline_state) {
  if (setting_.timed) {
    a_.mov(x86::rax, imm(reinterpret_cast<std::uint64_t>(pipeline_state)));
    a_.mov(x86::qword_ptr(x86::rbx, context_at::kPipelineState), x86::rax);
  }
  a_.mov(x86::rdx, imm(reinterpret_cast<std::uint64_t>(op)));
  a_.mov(x86::rax, x86::qword_ptr(x86::rdx, op_at::kHandler));
  a_.jmp(common_exit_);
}

void Emitter::cold(const Label& label, std::function<void()> code) {
  cold_.push_back({label, std::move(code)});
}

asmjit::Operand Emitter::slots() const {
  if (allocation_.crowded) return x86::qword_ptr(x86::rsp, stack::kSlots + pushed_);
  return x86::r14;
}

asmjit::Operand Emitter::work() const {
  if (allocation_.crowded) return x86::qword_ptr(x86::rsp, stack::kWork + pushed_);
  return x86::r15;
}

Emitter::Mem Emitter::constant(std::uint64_t low, std::uint64_t high) {
  const auto known = std::find_if(constants_.begin(), constants_.end(), [&](const Constant& each) {
    return each.low == low && each.high == high;
  });
  if (known != constants_.end()) return x86::ptr(known->label);
  constants_.push_back({a_.newLabel(), low, high});
  return x86::ptr(constants_.back().label);
}

void Emitter::emit_constants() {
  constexpr std::uint32_t kVector = 16;
  a_.align(asmjit::AlignMode::kZero, kVector);
  for (const Constant& each : constants_) {
    a_.bind(each.label);
    const std::uint64_t both[2] = {each.low, each.high};
    a_.embed(both, sizeof both);
  }
  a_.align(asmjit::AlignMode::kZero, 2 * kVector);
  for (const Activities& each : activities_) {
    a_.bind(each.label);
    a_.embed(&each.done, std::size_t{2} * kVector * kDoneVectors);
  }
}

}  // namespace tessera::engine::native
