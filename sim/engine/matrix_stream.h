#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "sim/engine/op.h"
#include "sim/isa/mnemonic.h"

/// rpt bodies that stream positions past the matrix unit: pairs {amp, ld2st}, one a phase, each
/// amp taking what the ld2st before it loaded, each ld2st storing what the amp before it made.
/// Whole positions of such a loop are done at once, with the same effects instruction by
/// instruction would have; wherever that is in doubt the instructions are executed one by one.
namespace tessera::engine {

/// Index in `body` of the amp that starts a position, if the body is such a stream.
std::optional<std::size_t> find_matrix_stream(std::span<const isa::Instruction> body);

/// The handler for that amp. Its Op's edge must be the loop's; `kind` is amp_h or amp_hs.
Handler matrix_stream_handler(isa::Mnemonic kind);

}  // namespace tessera::engine
