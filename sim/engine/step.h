#pragma once

#include <type_traits>

#include "sim/engine/handlers.h"
#include "sim/engine/hart.h"
#include "sim/engine/issue_trace.h"
#include "sim/engine/semantics/floating.h"
#include "sim/engine/semantics/integer.h"
#include "sim/engine/semantics/integer_unit.h"
#include "sim/engine/semantics/matrix.h"
#include "sim/engine/semantics/memory.h"
#include "sim/engine/semantics/packed.h"
#include "sim/isa/table.h"

#if __has_cpp_attribute(clang::musttail)
#define TESSERA_TAIL [[clang::musttail]] return
#else
#define TESSERA_TAIL return  // compilers that turn these calls into jumps when they optimise
#endif

/// Handlers made from semantics: one template for straight-line instructions, one for branches.
namespace tessera::engine {

/// True if the result depends on the rounding mode.
constexpr bool rounds(isa::Mnemonic mnemonic) {
  for (const isa::Operand& operand : isa::info(mnemonic).operands) {
    if (operand.shape == isa::Shape::rounding) return true;
  }
  return false;
}

template <isa::Mnemonic M>
concept Straight = requires(Hart<Fast>& hart) {
  semantics::execute(Is<M>{}, hart);
};
template <isa::Mnemonic M>
concept Branching = requires(Hart<Fast>& hart) {
  semantics::taken(Is<M>{}, hart);
};

/// Executes one instruction; false if it faults or gives up, without side effects.
template <class Mode, isa::Mnemonic M>
[[gnu::always_inline]] inline bool perform(const Op* op, Context* context, std::byte* memory,
                                           Frame* frame) {
  Hart<Mode> hart(op, context, memory, frame);
  if constexpr (!Mode::kHostRounding && rounds(M)) {
    if (hart.rounding() > fp::Rounding::rmm) {
      frame->fault = Fault::illegal_instruction;
      return false;
    }
  }
  if constexpr (std::is_void_v<decltype(semantics::execute(Is<M>{}, hart))>) {
    semantics::execute(Is<M>{}, hart);
    return !hart.gave_up();
  } else {
    return semantics::execute(Is<M>{}, hart);
  }
}

inline void hand_over(Reason reason, const Op* op, Frame* frame, std::int64_t slots,
                      std::uint64_t work) {
  frame->reason = reason;
  frame->op = op;
  frame->slots = slots;
  frame->work = work;
}

/// Handles what `perform<Mode, M>` refused: a fault, or an instruction that needs Careful.
template <class Mode, isa::Mnemonic M>
[[gnu::cold, gnu::noinline]] void refused(const Op* op, Context* context, std::byte* memory,
                                          Frame* frame, std::int64_t slots, std::uint64_t work) {
  if (!Mode::kQuick || !perform<Careful, M>(op, context, memory, frame))
    TESSERA_TAIL handler::fault(op, context, memory, frame, slots, work);
  ++op;
  TESSERA_TAIL op->handler(op, context, memory, frame, slots, work);
}

template <class Mode, isa::Mnemonic M>
[[gnu::always_inline]] inline void step(const Op* op, Context* context, std::byte* memory,
                                        Frame* frame, std::int64_t slots, std::uint64_t work) {
  if (!perform<Mode, M>(op, context, memory, frame)) [[unlikely]]
    TESSERA_TAIL refused<Mode, M>(op, context, memory, frame, slots, work);
  ++op;
  TESSERA_TAIL op->handler(op, context, memory, frame, slots, work);
}

/// Adds activities since the block began, in modes that count them.
template <class Mode>
[[gnu::always_inline]] inline void count(const Edge& edge, Frame& frame) {
  if constexpr (Mode::kCounts) frame.done.add(edge.done);
}

/// Adds the cost of instructions executed since the block began.
template <class Mode>
[[gnu::always_inline]] inline void account(const Edge& edge, Context& context, Frame& frame,
                                           std::int64_t& slots, std::uint64_t& work) {
  if (Mode::kTimed && frame.timed)
    slots += pass(edge, context, frame);
  else
    slots += edge.cost.slots;
  work += edge.cost.work;
  count<Mode>(edge, frame);
}

/// Continues at the target of the branch at `op`.
template <class Mode>
[[gnu::always_inline]] inline void leave(const Op* op, Context* context, std::byte* memory,
                                         Frame* frame, std::int64_t slots, std::uint64_t work) {
  account<Mode>(*op->edge, *context, *frame, slots, work);
  op = op->edge->target.load(std::memory_order_acquire);
  if (slots >= 0) [[unlikely]]
    return hand_over(Reason::due, op, frame, slots, work);
  TESSERA_TAIL op->handler(op, context, memory, frame, slots, work);
}

template <class Mode, isa::Mnemonic M>
[[gnu::always_inline]] inline void branch(const Op* op, Context* context, std::byte* memory,
                                          Frame* frame, std::int64_t slots, std::uint64_t work) {
  Hart<Mode> hart(op, context, memory, frame);
  if (semantics::taken(Is<M>{}, hart))
    TESSERA_TAIL leave<Mode>(op, context, memory, frame, slots, work);
  ++op;
  TESSERA_TAIL op->handler(op, context, memory, frame, slots, work);
}

}  // namespace tessera::engine
