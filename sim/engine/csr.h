#pragma once

#include <cstdint>
#include <optional>

#include "sim/engine/context.h"
#include "sim/isa/mnemonic.h"

namespace tessera::engine {

/// True if the instruction (one of csrrw ... csrrci) is a valid read of the cycle counter.
bool reads_cycle(const isa::Instruction& instruction);

/// Byte offset in Context of the value that the instruction reads, if it only reads a CSR that is
/// constant while the context runs: worker, tile, workers, superstep.
std::optional<std::int32_t> constant_csr(const isa::Instruction& instruction);

/// Executes one of csrrw ... csrrci. `cycle` and `instret` are the counters before it. False if
/// there is no such CSR or it is read-only.
bool execute_csr(const isa::Instruction& instruction, Context& context, std::uint64_t cycle,
                 std::uint64_t instret);

}  // namespace tessera::engine
