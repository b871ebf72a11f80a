#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "sim/engine/op.h"
#include "sim/isa/mnemonic.h"

/// rpt bodies that stream positions past the matrix unit: pairs {amp, move}, one a phase, each amp
/// taking what the moves before it loaded, each move storing what the amp before it made. A move
/// loads the next word of x where the next phase begins one, the next word of partials (of the
/// position after) where it takes one, unless partials stay in a register, and stores the result of
/// the phase before, if that yields one: ld2st, ld2, ldst, fld.p or fsd.p.
///
/// Pointers to x, partials and results are t3, t4 and t5. Whole positions of such a loop are done
/// at once, with the same effects instruction by instruction would have; wherever that is in doubt
/// the instructions are executed one by one.
namespace tessera::engine {

struct MatrixStream {
  std::size_t start;  ///< index in the body of the amp that starts a position
  Handler handler;    ///< for that amp; its Op's edge must be the loop's
};

/// Returns the stream that a loop of this body is on a machine of these shapes, if it is one.
std::optional<MatrixStream> find_matrix_stream(std::span<const isa::Instruction> body,
                                               const AmpShapes& shapes);

}  // namespace tessera::engine
