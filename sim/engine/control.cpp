#include "sim/engine/control.h"

#include <cstring>

#include "sim/engine/code.h"

namespace tessera::engine::handler {

void link(const Op* op, Context* context, std::byte* memory, Frame* frame, std::int64_t slots,
          std::uint64_t work) {
  op = frame->code->link(*op->edge, frame->path);
  TESSERA_TAIL op->handler(op, context, memory, frame, slots, work);
}

void fault(const Op* op, Context*, std::byte*, Frame* frame, std::int64_t slots,
           std::uint64_t work) {
  hand_over(Reason::fault, op, frame, slots, work);
}

void known_fault(const Op* op, Context*, std::byte*, Frame* frame, std::int64_t slots,
                 std::uint64_t work) {
  frame->fault = static_cast<Fault>(op->imm);
  frame->address = 0;
  hand_over(Reason::fault, op, frame, slots, work);
}

void misaligned_target(const Op* op, Context*, std::byte*, Frame* frame, std::int64_t slots,
                       std::uint64_t work) {
  frame->fault = Fault::misaligned;
  frame->address = static_cast<std::uint32_t>(op->imm);
  hand_over(Reason::fault, op, frame, slots, work);
}

void stop(const Op* op, Context*, std::byte*, Frame* frame, std::int64_t slots,
          std::uint64_t work) {
  hand_over(Reason::stop, op, frame, slots, work);
}

void constant_csr(const Op* op, Context* context, std::byte* memory, Frame* frame,
                  std::int64_t slots, std::uint64_t work) {
  std::memcpy(&context->x[op->rd], reinterpret_cast<const std::byte*>(context) + op->imm,
              sizeof context->x[0]);
  ++op;
  TESSERA_TAIL op->handler(op, context, memory, frame, slots, work);
}

void csr(const Op* op, Context*, std::byte*, Frame* frame, std::int64_t slots, std::uint64_t work) {
  hand_over(Reason::csr, op, frame, slots, work);
}

}  // namespace tessera::engine::handler
