#include "sim/engine/block_builder.h"

#include <algorithm>

#include "sim/engine/csr.h"
#include "sim/engine/instruction_kind.h"
#include "sim/engine/matrix_stream.h"
#include "sim/isa/decode.h"
#include "sim/isa/table.h"

namespace tessera::engine {

using isa::Instruction;
using isa::IssueClass;
using isa::Mnemonic;

namespace {

// Longer blocks gain nothing; their tails would be decoded once for every entry.
constexpr std::size_t kLongest = 96;

std::uint32_t target_of(const Instruction& instruction, std::uint32_t pc) {
  return pc + static_cast<std::uint32_t>(instruction.imm);
}

}  // namespace

BlockBuilder::BlockBuilder(std::span<const std::uint32_t> words, const Timing& timing,
                           const HandlerSet& handlers, bool streams, bool timed)
    : words_(words),
      timing_(&timing),
      handlers_(&handlers),
      streams_(streams),
      timed_(timed),
      cost_(timing) {}

std::unique_ptr<Block> BlockBuilder::build(std::uint32_t pc) {
  block_ = std::make_unique<Block>();
  while (append(pc)) {
    // A loop ends with its loop_end, at the last instruction of the body.
    pc = block_->sites.back().pc + 4;
    if (block_->ops.size() >= kLongest && may_cut(pc)) {
      append_fall_through(pc);
      break;
    }
  }
  for (Op& op : block_->ops) {
    if (op.handler == handlers_->loop_end) op.edge->target = block_->ops.data() + op.imm;
  }
  return std::move(block_);
}

bool BlockBuilder::append(std::uint32_t pc) {
  if (pc == kReturnAddress && timing_->role() == Role::worker)
    return append_stop({.mnemonic = Mnemonic::xctl}, pc);
  if (pc % 4 != 0 || pc / 4 >= words_.size()) return append_fault(Fault::out_of_range, pc);
  const std::optional<Instruction> instruction = fetch(pc);
  if (!instruction) return append_fault(Fault::illegal_instruction, pc);
  if (const auto fault = forbidden(*instruction)) return append_fault(*fault, pc);
  if (is_conditional(instruction->mnemonic)) return append_branch(*instruction, pc);
  if (isa::info(instruction->mnemonic).issue == IssueClass::branch)
    return append_jump(*instruction, pc);
  if (instruction->mnemonic == Mnemonic::rpt) return append_loop(*instruction, pc);
  const std::optional<std::int32_t> constant = constant_csr(*instruction);
  if (!constant && !is_straight(*instruction)) return append_stop(*instruction, pc);
  append_straight(*instruction, pc);
  if (constant) {
    block_->ops.back().handler = handler::constant_csr;
    block_->ops.back().imm = *constant;
  }
  return true;
}

void BlockBuilder::append_straight(const Instruction& instruction, std::uint32_t pc) {
  set_operands(push(handler_of(instruction), pc), instruction, pc);
  add(instruction, pc);
  previous_ = instruction;
}

bool BlockBuilder::append_branch(const Instruction& instruction, std::uint32_t pc) {
  Op& op = push(handlers_->plain[isa::index(instruction.mnemonic)], pc);
  set_operands(op, instruction, pc);
  const std::uint32_t target = target_of(instruction, pc);
  Edge& edge = leave(op, target);
  if (target % 4 != 0) {
    edge.pc = pc;
    edge.stub.handler = handler::misaligned_target;
    edge.stub.imm = static_cast<std::int32_t>(target);
    close(edge);
  }
  add(instruction, pc);
  previous_ = instruction;
  if (target % 4 == 0) close_taken(edge);
  return true;
}

bool BlockBuilder::append_jump(const Instruction& instruction, std::uint32_t pc) {
  const bool direct = instruction.mnemonic == Mnemonic::jal;
  const std::uint32_t target = target_of(instruction, pc);
  Op& op = push(handlers_->plain[isa::index(instruction.mnemonic)], pc);
  set_operands(op, instruction, pc);
  if (direct && target % 4 != 0) {
    op.handler = handler::misaligned_target;
    op.imm = static_cast<std::int32_t>(target);
    return false;
  }
  Edge& edge = leave(op, direct ? target : pc + 4);
  add(instruction, pc);
  close_taken(edge);
  return false;
}

bool BlockBuilder::append_stop(const Instruction& instruction, std::uint32_t pc) {
  if (instruction.mnemonic == Mnemonic::ebreak) return append_fault(Fault::breakpoint, pc);
  Op& op = push(is_csr(instruction.mnemonic) ? handler::csr : handler::stop, pc);
  set_operands(op, instruction, pc);
  Edge& edge = leave(op, pc + 4);
  edge.before = cost_.total();
  edge.instruction = instruction;
  edge.stop = stop_of(instruction);
  edge.has_operands = edge.stop == Stop::run || edge.stop == Stop::exchange_start ||
                      edge.stop == Stop::exchange_wait || edge.stop == Stop::load_weights ||
                      edge.stop == Stop::dma;
  if (edge.stop == Stop::sync)
    edge.zone = static_cast<std::uint32_t>(instruction.imm - xctl::kFirstZone);
  add(instruction, pc);
  close(edge);
  return false;
}

bool BlockBuilder::append_loop(const Instruction& instruction, std::uint32_t pc) {
  const std::uint32_t end = target_of(instruction, pc);
  if (!is_loop_body(pc + 4, end)) return append_fault(Fault::bad_loop, pc);
  Op& head = push(handlers_->plain[isa::index(instruction.mnemonic)], pc);
  set_operands(head, instruction, pc);
  Edge& entering = leave(head, pc);
  add(instruction, pc);
  close(entering);
  restart();

  const auto first = static_cast<std::int32_t>(block_->ops.size());
  for (std::uint32_t at = pc + 4; at < end; at += 4) append_straight(*fetch(at), at);
  Op& tail = push(handlers_->loop_end, end - 4);
  tail.imm = first;
  Edge& again = leave(tail, pc + 4);
  close(again);
  // Every iteration but the first waits for the last instruction's load.
  const std::uint32_t wrap = timing_->stall(*previous_, *fetch(pc + 4));
  again.cost.slots += wrap;
  entering.cost.slots -= wrap;
  restart();
  recognise_stream(pc + 4, end, static_cast<std::size_t>(first), again);
  return true;
}

void BlockBuilder::recognise_stream(std::uint32_t begin, std::uint32_t end, std::size_t first,
                                    const Edge& again) {
  if (!streams_ || !handlers_->host_rounding) return;
  std::vector<Instruction> body;
  for (std::uint32_t pc = begin; pc < end; pc += 4) body.push_back(*fetch(pc));
  const std::optional<MatrixStream> stream = find_matrix_stream(body, timing_->shapes());
  if (!stream) return;
  Op& op = block_->ops[first + stream->start];
  op.handler = stream->handler;
  op.edge = &again;
}

bool BlockBuilder::append_fault(Fault fault, std::uint32_t pc) {
  push(handler::known_fault, pc).imm = static_cast<std::int32_t>(fault);
  return false;
}

void BlockBuilder::append_fall_through(std::uint32_t pc) {
  Edge& edge = leave(push(handlers_->fall_through, pc), pc);
  close(edge);
}

std::optional<Instruction> BlockBuilder::fetch(std::uint32_t pc) const {
  return isa::decode(words_[pc / 4]);
}

// False between the halves of a pair, or if the next instruction stalls on the last one.
bool BlockBuilder::may_cut(std::uint32_t pc) const {
  if (pc % 8 != 0 || pc / 4 >= words_.size()) return false;
  const auto next = fetch(pc);
  return !next || !previous_ || timing_->stall(*previous_, *next) == 0;
}

bool BlockBuilder::is_loop_body(std::uint32_t begin, std::uint32_t end) const {
  if (end <= begin || end % 4 != 0 || end / 4 > words_.size()) return false;
  for (std::uint32_t pc = begin; pc < end; pc += 4) {
    const auto instruction = fetch(pc);
    if (!instruction || forbidden(*instruction) || !is_straight(*instruction)) return false;
  }
  return true;
}

std::optional<Fault> BlockBuilder::forbidden(const Instruction& instruction) const {
  if (!timing_->exists(instruction)) return Fault::illegal_instruction;
  const bool worker = timing_->role() == Role::worker;
  if (!worker && (uses_banks(instruction) || stop_of(instruction) == Stop::dma))
    return Fault::not_allowed_here;
  bool supervisor_only = false;
  switch (instruction.mnemonic) {
    case Mnemonic::xctl:
      if (instruction.imm == 0 || instruction.imm == xctl::kClearBanks) return std::nullopt;
      if (instruction.imm != xctl::kJoin && instruction.imm < xctl::kFirstZone)
        return Fault::illegal_instruction;
      supervisor_only = true;
      break;
    case Mnemonic::run:
    case Mnemonic::run_block:
    case Mnemonic::exch:
    case Mnemonic::exch_wait:
    case Mnemonic::ldcw:
      supervisor_only = true;
      break;
    default:
      break;
  }
  if (supervisor_only && worker) return Fault::not_allowed_here;
  return std::nullopt;
}

Handler BlockBuilder::handler_of(const Instruction& instruction) const {
  const std::size_t index = isa::index(instruction.mnemonic);
  const bool directed = handlers_->host_rounding && has_rounding(instruction.mnemonic) &&
                        !rounds_as_host(instruction);
  return directed ? handlers_->directed[index] : handlers_->plain[index];
}

Op& BlockBuilder::push(Handler handler, std::uint32_t pc) {
  block_->ops.push_back({.handler = handler});
  block_->sites.push_back({pc, cost_.total()});
  return block_->ops.back();
}

void BlockBuilder::add(const Instruction& instruction, std::uint32_t pc) {
  cost_.add(instruction, pc);
  if (!timed_) return;
  block_->pcs.push_back(pc);
  block_->demands.push_back(timing_->demand(instruction));
  block_->demands.back().paired = cost_.paired();
}

/// Restarts costs: a context that left earlier does not execute the following instructions.
void BlockBuilder::restart() {
  cost_.restart();
  first_ = block_->demands.size();
}

/// Gives `edge` the cost since the last restart(), which a context that leaves here executes.
void BlockBuilder::close(Edge& edge) {
  edge.cost = cost_.total();
  edge.done = cost_.done();
  edge.block = block_.get();
  edge.first = static_cast<std::uint32_t>(first_);
  edge.last = static_cast<std::uint32_t>(block_->demands.size());
}

void BlockBuilder::close_taken(Edge& edge) {
  close(edge);
  edge.cost.slots += timing_->branch_extra();
  edge.branches = true;
}

Edge& BlockBuilder::leave(Op& op, std::uint32_t pc) {
  Edge& edge = block_->edges.emplace_back();
  edge.pc = pc;
  edge.stub.handler = handler::link;
  edge.stub.edge = &edge;
  edge.target = &edge.stub;
  op.edge = &edge;
  return edge;
}

}  // namespace tessera::engine
