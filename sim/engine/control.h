#pragma once

#include "sim/engine/step.h"

/// Handlers of jumps and loops; conditional branches are in step.h.
namespace tessera::engine::handler {

template <class Mode>
void jump(const Op* op, Context* context, std::byte* memory, Frame* frame, std::int64_t slots,
          std::uint64_t work) {
  context->x[op->rd] = static_cast<std::uint32_t>(op->imm);
  account<Mode>(*op->edge, *context, *frame, slots, work);
  op = op->edge->target.load(std::memory_order_acquire);
  if (slots >= 0) [[unlikely]]
    return hand_over(Reason::due, op, frame, slots, work);
  TESSERA_TAIL op->handler(op, context, memory, frame, slots, work);
}

template <class Mode>
void jump_register(const Op* op, Context* context, std::byte* memory, Frame* frame,
                   std::int64_t slots, std::uint64_t work) {
  const std::uint32_t target = (context->x[op->rs1] + static_cast<std::uint32_t>(op->imm)) & ~1U;
  if (target % 4 != 0) [[unlikely]] {
    frame->fault = Fault::misaligned;
    frame->address = target;
    TESSERA_TAIL fault(op, context, memory, frame, slots, work);
  }
  context->x[op->rd] = op->edge->pc;
  account<Mode>(*op->edge, *context, *frame, slots, work);
  const Op* next = target / 4 < frame->entry_count
                       ? frame->entries[target / 4].load(std::memory_order_acquire)
                       : nullptr;
  if (next == nullptr) [[unlikely]] {
    frame->pc = target;
    return hand_over(Reason::find, op, frame, slots, work);
  }
  if (op->edge->taken() == nullptr) [[unlikely]]
    op->edge->target.store(next, std::memory_order_relaxed);
  op = next;
  if (slots >= 0) [[unlikely]]
    return hand_over(Reason::due, op, frame, slots, work);
  TESSERA_TAIL op->handler(op, context, memory, frame, slots, work);
}

/// rpt: its body follows, up to the Op of loop_end.
template <class Mode>
void loop(const Op* op, Context* context, std::byte* memory, Frame* frame, std::int64_t slots,
          std::uint64_t work) {
  frame->loops_left = context->x[op->rs1];
  if (frame->loops_left == 0) [[unlikely]] {
    frame->fault = Fault::bad_loop;
    TESSERA_TAIL fault(op, context, memory, frame, slots, work);
  }
  account<Mode>(*op->edge, *context, *frame, slots, work);
  ++op;
  TESSERA_TAIL op->handler(op, context, memory, frame, slots, work);
}

/// Continues in the next block, where this one became too long.
template <class Mode>
void fall_through(const Op* op, Context* context, std::byte* memory, Frame* frame,
                  std::int64_t slots, std::uint64_t work) {
  account<Mode>(*op->edge, *context, *frame, slots, work);
  op = op->edge->target.load(std::memory_order_acquire);
  if (slots >= 0) [[unlikely]]
    return hand_over(Reason::due, op, frame, slots, work);
  TESSERA_TAIL op->handler(op, context, memory, frame, slots, work);
}

/// After the last instruction of an rpt body.
template <class Mode>
void loop_end(const Op* op, Context* context, std::byte* memory, Frame* frame, std::int64_t slots,
              std::uint64_t work) {
  account<Mode>(*op->edge, *context, *frame, slots, work);
  const bool again = --frame->loops_left != 0;
  op = again ? op->edge->target.load(std::memory_order_relaxed) : op + 1;
  if (slots >= 0 || (!again && frame->overdrawn)) [[unlikely]]
    return hand_over(Reason::due_inside, op, frame, slots, work);
  TESSERA_TAIL op->handler(op, context, memory, frame, slots, work);
}

}  // namespace tessera::engine::handler
