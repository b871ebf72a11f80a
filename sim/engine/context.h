#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/base/types.h"
#include "sim/isa/packed/integer_unit.h"
#include "sim/isa/packed/matrix.h"

namespace tessera::engine {

struct PipelineState;  // pipeline_transition.h

/// The state of one worker or supervisor context. `run` sets pc, a0 and ra; the rest stays.
/// Fields that every run() accesses share one host cache line, after the integer registers.
struct alignas(64) Context {
  std::uint32_t x[34] = {};  ///< x[32] receives writes to x0, which stays 0; x[33] pads
  std::uint32_t pc = 0;
  std::uint32_t fcsr = 0;    ///< frm and fflags as in the RISC-V manual, exact between instructions
  std::uint32_t worker = 0;  ///< CSR 0xCC0
  std::uint32_t tile = 0;    ///< CSR 0xCC1
  std::uint32_t workers = 0;     ///< CSR 0xCC2
  std::uint32_t superstep = 0;   ///< CSR 0xCC3
  std::uint64_t base_cycle = 0;  ///< chip cycle at which `slots` was 0, for CSR cycle
  std::uint64_t slots = 0;       ///< issue slots used since it was reset (supervisor: cycles)
  std::uint64_t instructions = 0;
  std::uint64_t flops = 0;
  std::uint64_t pairs = 0;   ///< instructions that issued with the previous one
  std::uint64_t f[32] = {};  ///< f32 and f16 values are NaN-boxed; packed values are raw bits
  packed::Banks banks;       ///< accumulators of the matrix unit, owned by WorkerContexts
  packed::IntegerUnit* integers = nullptr;  ///< likewise; null: the machine has none
  std::uint64_t random[2] = {};             ///< state of rnd.64
  // For codes whose instructions may wait for results:
  const PipelineState* pipeline_state = nullptr;  ///< pending results; null: none
  std::uint64_t pipeline_state_at = 0;            ///< the cycle it holds for
  std::uint64_t waits[4] = {};                    ///< slots waited, by Cause
  bool profiled = true;                           ///< counts in the profile if its code is profiled
};

/// The memory one tile executes from. Stores below code_end fault, so decoded code stays valid.
struct TileMemory {
  std::byte* bytes = nullptr;
  std::uint32_t size = 0;
  std::uint32_t code_end = 0;
  std::uint64_t* weights = nullptr;  ///< W, sized for the matrix unit
  /// Memory of the tile that runs next on this host thread and reads mostly the same addresses:
  /// each read here prefetches the same address there. Null: none.
  const std::byte* next = nullptr;
};

}  // namespace tessera::engine
