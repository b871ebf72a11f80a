#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "sim/engine/context.h"
#include "sim/machine/machine_config.h"

/// Runs tile code instruction by instruction and counts issue slots by basic block. Independent of
/// the machine: instructions that involve others (run, join, sync, exchange) stop the engine, and
/// the caller executes them. Leaves out: bank contention, instruction fetch.
namespace tessera::engine {

/// Why the engine returned. Instructions whose time the machine knows (run, join, sync, exchange,
/// load_weights) count as instructions and take no slots here.
enum class Stop : std::uint8_t {
  end_worker,        ///< xctl 0
  join,              ///< xctl 1
  run,               ///< operands: {pc, a0, worker or -1, run.block's number or 0}
  sync,              ///< operand 0: zone
  exchange_start,    ///< operand 0: address of the descriptor list
  exchange_wait,     ///< operand 0: as for exchange_start; 0: all
  dma,               ///< operands: {SRAM address, external address, bytes, 1 if outward}
  load_weights,      ///< operands: {address, first word, words}; rs1 is already advanced
  environment_call,  ///< ecall: the caller reads the registers
  read_cycle,        ///< only where issues are traced: see Session::trace_issues
  limit,             ///< the slot limit was passed; may be continued
  fault,             ///< see Exit::fault
};

enum class Fault : std::uint8_t {
  none,
  misaligned,
  out_of_range,
  write_to_code,
  illegal_instruction,
  bad_loop,
  not_allowed_here,
  breakpoint,
  race
};

struct Exit {
  Stop stop;
  Fault fault = Fault::none;
  std::uint32_t pc = 0;       ///< pc of the instruction that stopped; continue at Context::pc
  std::uint32_t address = 0;  ///< address of the access that faulted
  std::uint32_t operand[4] = {};
};

/// Return address of workers, which `run` puts into ra: holds an `xctl 0`.
inline constexpr std::uint32_t kReturnAddress = 0xfffffffc;

/// The timing rules that apply: worker (slots, pair rule) or supervisor (cycles, branches, load-use
/// stalls).
enum class Role : std::uint8_t { worker, supervisor };

/// Code decoded for one role and one machine's costs; shared by all tiles that hold the same bytes
/// at address 0. Thread-safe.
class Code;
class AccessLog;  ///< access_log.h
/// Execution method: handlers of predecoded instructions, or also host code for hot code, if the
/// host supports it and contexts do not share a pipeline. Both give the same results.
enum class Engine : std::uint8_t { interpreter, native };
bool native_available();
struct CodeCounts {
  bool activity = false;  ///< counts instruction activity, for Session::count_activity
  bool profile = false;   ///< profiles worker slots, for profile() (slower)
  Engine engine = Engine::interpreter;
};
std::shared_ptr<const Code> predecode(std::span<const std::byte> bytes, Role role,
                                      const TileConfig& tile, CodeCounts counts = {});

/// Runs from context.pc until something stops it, adding to context's slots, instructions and
/// flops. `slot_limit`: slots this call may use before it stops (checked at taken branches).
Exit run(const Code& code, Context& context, const TileMemory& memory, std::uint64_t slot_limit);

/// Runs as run() does and records every byte that instructions read and write (slower).
Exit run_recording(const Code& code, Context& context, const TileMemory& memory,
                   std::uint64_t slot_limit, AccessLog& log);

/// "misaligned access", ...
std::string describe(Fault fault);

}  // namespace tessera::engine
