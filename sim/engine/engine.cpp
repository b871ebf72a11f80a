#include "sim/engine/engine.h"

#include "sim/engine/session.h"

namespace tessera::engine {

Exit run(const Code& code, Context& context, const TileMemory& memory, std::uint64_t slot_limit) {
  return Session().run(code, context, memory, slot_limit);
}

Exit run_recording(const Code& code, Context& context, const TileMemory& memory,
                   std::uint64_t slot_limit, AccessLog& log) {
  return Session().run_recording(code, context, memory, slot_limit, log);
}

std::string describe(Fault fault) {
  switch (fault) {
    case Fault::none:
      return "no fault";
    case Fault::misaligned:
      return "misaligned access";
    case Fault::out_of_range:
      return "access outside of SRAM";
    case Fault::write_to_code:
      return "write to code";
    case Fault::illegal_instruction:
      return "illegal instruction";
    case Fault::bad_loop:
      return "bad rpt loop (no passes, or a branch or control instruction in its body)";
    case Fault::not_allowed_here:
      return "instruction not allowed in this context";
    case Fault::breakpoint:
      return "breakpoint";
    case Fault::race:
      return "data race";
  }
  return "unknown fault";
}

}  // namespace tessera::engine
