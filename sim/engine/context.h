#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/base/types.h"
#include "sim/isa/packed/integer_unit.h"
#include "sim/isa/packed/matrix.h"

namespace tessera::engine {

struct Signature;  // passing.h

/// The state of one worker or supervisor context. `run` sets pc, a0 and ra; the rest stays.
/// Fields that every run() touches share one host cache line, after the integer registers.
struct alignas(64) Context {
  std::uint32_t x[34] = {};  ///< x[32] takes what is written to x0, which stays 0; x[33] pads
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
  std::uint64_t pairs = 0;   ///< instructions that issued with the one before
  std::uint64_t f[32] = {};  ///< f32 and f16 values are NaN-boxed; packed values are raw bits
  packed::Banks banks;       ///< accumulators of the matrix unit, which the worker's owner holds
  packed::IntegerUnit* integers = nullptr;  ///< its owner holds it too; null: the machine has none
  std::uint64_t random[2] = {};             ///< state of rnd.64
  // Where instructions may wait for results:
  const Signature* signature = nullptr;  ///< results under way; null: none
  std::uint64_t signature_at = 0;        ///< the cycle it holds for
  std::uint64_t waits[4] = {};           ///< slots waited, by Cause
  bool profiled = true;                  ///< counts where its code is profiled
};

/// The memory one tile executes from. Stores below code_end fault, so decoded code stays true.
struct TileMemory {
  std::byte* bytes = nullptr;
  std::uint32_t size = 0;
  std::uint32_t code_end = 0;
  std::uint64_t* weights = nullptr;  ///< W: as many words as the matrix unit needs
  /// Memory of the tile that runs next on this host thread, which reads much the same addresses:
  /// what is read here is brought into the host's cache there. Null: of none.
  const std::byte* next = nullptr;
};

}  // namespace tessera::engine
