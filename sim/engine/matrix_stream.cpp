#include "sim/engine/matrix_stream.h"

#include <algorithm>
#include <cstring>

#include "sim/engine/step.h"
#include "sim/machine/matrix_unit.h"

namespace tessera::engine {
namespace {

using isa::Instruction;
using isa::Mnemonic;

constexpr std::uint8_t kT3 = 28;  // t3, t4, t5: x, partials, results
constexpr std::uint8_t kT4 = 29;
constexpr std::uint8_t kT5 = 30;
constexpr std::uint32_t kStreamWord = 8;
constexpr std::uint32_t kFewest = 2;             // iterations from which this pays
constexpr std::uint32_t kMostPhases = 1U << 15;  // at once: keeps the packed counters in range

template <Mnemonic M>
const packed::AmpShape& shape_of(const AmpShapes& shapes) {
  if constexpr (M == Mnemonic::amp_h) return shapes.h;
  if constexpr (M == Mnemonic::amp_hs) return shapes.hs;
  return shapes.s;
}

/// True if the last phase yields a result: then one is pending a store when a position starts.
bool leaves_result(const packed::AmpShape& shape) { return shape.partial_words == shape.phases; }

/// Addresses of the stream when its position starts: the amp at `op`, its move next.
struct Stream {
  std::uint32_t x, partials;  ///< t3, t4: after the words already loaded
  std::uint32_t waiting;      ///< t5: address for the pending result, if any
  std::uint32_t out;          ///< address of the coming results
  std::uint32_t positions;
  std::uint32_t x_bytes, bytes;  ///< size of inputs; size of partials and of results
};

bool inside(std::uint32_t begin, std::uint32_t end, std::uint32_t low, std::uint32_t size) {
  return begin % kStreamWord == 0 && begin >= low && end >= begin && end <= size;
}

std::uint64_t word_at(const std::byte* memory, std::uint32_t address) {
  std::uint64_t word;
  std::memcpy(&word, memory + address, sizeof(word));
  return word;
}

/// True if all addresses are in memory, including the words that the next move loads when it stores
/// the last result, f registers hold the words loaded last, and results do not overwrite words read
/// later.
template <bool kAccumulates>
bool applies(const Stream& s, const Op* op, const Context& context, const std::byte* memory,
             const Frame& frame) {
  const std::uint32_t size = frame.size;
  const std::uint32_t x_end = s.x + s.x_bytes;
  const std::uint32_t out_end = s.out + s.bytes;
  if (!inside(s.x, x_end + kStreamWord, kStreamWord, size) ||
      !inside(s.waiting, out_end, frame.store_base[0], size)) {
    return false;
  }
  const bool apart = s.waiting >= x_end || out_end <= s.x - kStreamWord;
  if (!apart || word_at(memory, s.x - kStreamWord) != context.f[op->rs1]) return false;
  if constexpr (kAccumulates) {
    const std::uint32_t partials_end = s.partials + s.bytes;
    if (!inside(s.partials, partials_end + kStreamWord, kStreamWord, size)) return false;
    // Results may replace partials already read: they must stay behind the reads.
    const bool behind = s.out + kStreamWord <= s.partials || s.waiting >= partials_end;
    return behind && word_at(memory, s.partials - kStreamWord) == context.f[op->rs2];
  }
  return true;
}

template <Mnemonic M, bool kAccumulates>
void compute(const Stream& s, const Op* op, Context& context, std::byte* memory, Frame& frame) {
  const packed::AmpShape& shape = shape_of<M>(*frame.shapes);
  const float* rows =
      frame.weight_rows.rows(shape.kind, shape.inputs * shape.outputs, frame.memory->weights);
  const std::byte* x = memory + s.x - kStreamWord;
  std::byte* out = memory + s.out;
  if constexpr (kAccumulates) {
    const std::byte* partials = memory + s.partials - kStreamWord;
    packed::amp_positions(shape, context.banks, rows, s.positions, x, partials, out);
  } else {
    constexpr std::size_t kAtOnce = 16;
    std::uint64_t same[kAtOnce * MatrixShape::kMostPhases];
    std::fill_n(same, kAtOnce * shape.partial_words, context.f[op->rs2]);
    const auto* partials = reinterpret_cast<const std::byte*>(same);
    for (std::size_t done = 0; done < s.positions; done += kAtOnce) {
      const std::size_t count = std::min(kAtOnce, s.positions - done);
      packed::amp_positions(shape, context.banks, rows, count,
                            x + done * shape.x_words * kStreamWord, partials,
                            out + done * shape.partial_words * kStreamWord);
    }
  }
}

/// Executes all but the last iteration of the loop at once; the Ops execute the rest.
template <Mnemonic M, Mnemonic Move, bool kAccumulates>
void matrix_stream(const Op* op, Context* context, std::byte* memory, Frame* frame,
                   std::int64_t slots, std::uint64_t work) {
  if (frame->loops_left >= kFewest) {
    const packed::AmpShape& shape = shape_of<M>(*frame->shapes);
    std::uint32_t* const x = context->x;
    const std::uint32_t positions = std::min(frame->loops_left - 1, kMostPhases / shape.phases);
    const bool waits = leaves_result(shape);
    const Stream s{x[kT3],
                   x[kT4],
                   x[kT5],
                   x[kT5] + (waits ? kStreamWord : 0),
                   positions,
                   positions * shape.x_words * kStreamWord,
                   positions * shape.partial_words * kStreamWord};
    if (applies<kAccumulates>(s, op, *context, memory, *frame)) {
      const std::uint8_t stored = Move == Mnemonic::ldst ? op[1].rs3 : op[1].rs2;
      if (waits) std::memcpy(memory + s.waiting, &context->f[stored], kStreamWord);
      compute<M, kAccumulates>(s, op, *context, memory, *frame);
      x[kT3] += s.x_bytes;
      x[kT5] += s.bytes;
      context->f[op->rs1] = word_at(memory, x[kT3] - kStreamWord);
      if constexpr (kAccumulates) {
        x[kT4] += s.bytes;
        context->f[op->rs2] = word_at(memory, x[kT4] - kStreamWord);
      }
      // The last result is still pending in its register for t5, where it was already stored.
      if (waits) context->f[stored] = word_at(memory, x[kT5]);
      frame->loops_left -= positions;
      slots += frame->timed ? pass_times(*op->edge, positions, *context, *frame)
                            : op->edge->cost.slots * positions;
      work += op->edge->cost.work * positions;
      frame->done.add(op->edge->done, positions);
    }
  }
  TESSERA_TAIL step<Fast, M>(op, context, memory, frame, slots, work);
}

/// Moves beside an amp: inputs and partials for the next phase, the result of the last.
struct Moves {
  bool x;
  bool partials;
  bool out;
};

Moves moves_of(const packed::AmpShape& shape, unsigned phase, bool accumulates) {
  const unsigned next = (phase + 1) % shape.phases;
  const unsigned before = (phase + shape.phases - 1) % shape.phases;
  return {next % (shape.phases / shape.x_words) == 0, accumulates && next < shape.partial_words,
          before < shape.partial_words};
}

bool is_move(const Instruction& move, const Moves& moves, const Instruction& amp,
             std::uint8_t stored) {
  const Mnemonic is = move.mnemonic;
  const std::uint8_t loaded = moves.x ? amp.rs1 : amp.rs2;
  const std::uint8_t from = moves.x ? kT3 : kT4;
  const bool next_word = move.imm == static_cast<std::int32_t>(kStreamWord);
  if (moves.x && moves.partials) {
    const bool both = move.rd == amp.rs1 && move.rs3 == amp.rs2;
    if (moves.out) return is == Mnemonic::ld2st && both && move.rs2 == stored;
    return is == Mnemonic::ld2 && both && move.rs1 == kT3 && move.rs2 == kT4;
  }
  if (moves.x || moves.partials) {
    const bool one = move.rd == loaded && move.rs1 == from;
    if (!moves.out) return is == Mnemonic::fld_p && one && next_word;
    return is == Mnemonic::ldst && one && move.rs2 == kT5 && move.rs3 == stored;
  }
  return moves.out && is == Mnemonic::fsd_p && move.rs1 == kT5 && move.rs2 == stored && next_word;
}

/// Index of the pair that starts a position, if the body is a stream of its amp.
std::optional<std::size_t> find_start(std::span<const Instruction> body,
                                      const packed::AmpShape& shape, bool accumulates) {
  const Instruction& first = body[0];
  const std::size_t phases = shape.phases;
  std::optional<std::size_t> start;
  for (std::size_t i = 0; i < phases; ++i) {
    const Instruction& amp = body[2 * i];
    const Instruction& before = body[2 * ((i + phases - 1) % phases)];
    const Instruction& second = body[2 * ((i + phases - 2) % phases)];
    const unsigned phase = packed::amp_phase(static_cast<std::uint32_t>(amp.imm));
    const unsigned phase_before = packed::amp_phase(static_cast<std::uint32_t>(before.imm));
    const std::uint32_t flags = phase == 0 ? packed::kAmpStart : 0;
    const bool in_order =
        phase == (phase_before + 1) % phases &&
        static_cast<std::uint32_t>(amp.imm) == (packed::amp_number(phase) | flags);
    const bool same =
        amp.mnemonic == first.mnemonic && amp.rs1 == first.rs1 && amp.rs2 == first.rs2;
    // Two results take turns, so that the last two are those of the start's pair.
    const bool turns = amp.rd == second.rd && amp.rd != before.rd;
    const bool distinct = amp.rd != amp.rs1 && amp.rd != amp.rs2;
    const bool moves =
        in_order && is_move(body[2 * i + 1], moves_of(shape, phase, accumulates), amp, before.rd);
    if (!same || !turns || !distinct || !moves) return std::nullopt;
    if (phase == 0) start = 2 * i;
  }
  return first.rs1 != first.rs2 ? start : std::nullopt;
}

template <Mnemonic M>
Handler handler_of(Mnemonic move, bool accumulates) {
  using enum isa::Mnemonic;
  switch (move) {
    case ld2st:
      return matrix_stream<M, ld2st, true>;
    case ld2:
      return matrix_stream<M, ld2, true>;
    case ldst:
      return accumulates ? matrix_stream<M, ldst, true> : matrix_stream<M, ldst, false>;
    case fld_p:
      return accumulates ? matrix_stream<M, fld_p, true> : matrix_stream<M, fld_p, false>;
    default:
      return matrix_stream<M, fsd_p, false>;
  }
}

template <Mnemonic M>
std::optional<MatrixStream> find_stream(std::span<const Instruction> body,
                                        const AmpShapes& shapes) {
  const packed::AmpShape& shape = shape_of<M>(shapes);
  if (shape.phases < 2 || body.size() != std::size_t{2} * shape.phases) return std::nullopt;
  for (const bool accumulates : {true, false}) {
    const auto start = find_start(body, shape, accumulates);
    if (start) return MatrixStream{*start, handler_of<M>(body[*start + 1].mnemonic, accumulates)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<MatrixStream> find_matrix_stream(std::span<const Instruction> body,
                                               const AmpShapes& shapes) {
  switch (body[0].mnemonic) {
    case Mnemonic::amp_h:
      return find_stream<Mnemonic::amp_h>(body, shapes);
    case Mnemonic::amp_hs:
      return find_stream<Mnemonic::amp_hs>(body, shapes);
    case Mnemonic::amp_s:
      return find_stream<Mnemonic::amp_s>(body, shapes);
    default:
      return std::nullopt;
  }
}

}  // namespace tessera::engine
