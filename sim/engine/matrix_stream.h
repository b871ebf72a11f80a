#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "sim/engine/op.h"
#include "sim/isa/mnemonic.h"

/// rpt bodies that stream positions through the matrix unit: pairs {amp, move}, one per phase; each
/// amp takes what earlier moves loaded, each move stores what the preceding amp made. A move loads
/// the next word of x if the next phase begins one, the next word of partials (of the following
/// position) if the phase takes one, unless partials stay in a register, and stores the result of
/// the previous phase, if any (ld2st, ld2, ldst, fld.p or fsd.p).
///
/// Pointers to x, partials and results are t3, t4 and t5. Whole positions of such a loop are
/// executed at once, with exactly the effects of the single instructions; in doubtful cases the
/// instructions are executed one by one.
namespace tessera::engine {

struct MatrixStream {
  std::size_t start;  ///< index in the body of the amp that starts a position
  Handler handler;    ///< for that amp; its Op's edge must be the loop's
};

/// Returns the stream that a loop with this body forms on a machine of these shapes, if any.
std::optional<MatrixStream> find_matrix_stream(std::span<const isa::Instruction> body,
                                               const AmpShapes& shapes);

}  // namespace tessera::engine
