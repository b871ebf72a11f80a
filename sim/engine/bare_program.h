#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "sim/elf/elf.h"
#include "sim/engine/engine.h"
#include "sim/engine/profile.h"
#include "sim/machine/machine_config.h"

/// `tessera exec`: a bare RV32 program on one worker context of one tile.
namespace tessera::engine {

struct ExecOptions {
  /// Bytes of memory from address 0; 0: the tile's SRAM. Programs linked at lld's default 0x10000
  /// fit and run under qemu-riscv32 as well.
  std::uint32_t memory_bytes = 0;
  std::uint64_t slot_limit = ~std::uint64_t{0};
  bool profile = false;  ///< fills ExecResult::profile
  Engine engine = Engine::native;
  /// Receives output of the program to descriptors 1 and 2 (ecall 64).
  std::function<void(int descriptor, std::string_view text)> write;
};

struct ExecResult {
  std::uint32_t exit_code = 0;  ///< a0 of ecall 93
  std::uint64_t cycles = 0;     ///< slots times the tile's contexts
  std::uint64_t slots = 0;
  std::uint64_t instructions = 0;
  Profile profile;
};

/// Runs `program` from its entry, with the stack at the top of memory and gp as linked, until ecall
/// with a7 = 93 or 94, or until it returns with the exit code in a0. Segments are loaded both at
/// their run addresses and at the addresses from which start-up code copies them. Ecall 64 writes;
/// all others return -38 (ENOSYS) in a0. Semihosting writes and exits too (semihosting.h). Throws
/// UserError if a segment does not fit, data is below code, or the program faults (with pc,
/// instruction and address); NoProgress beyond the limit.
ExecResult execute_bare(const elf::Program& program, const TileConfig& tile,
                        const ExecOptions& options = {});

}  // namespace tessera::engine
