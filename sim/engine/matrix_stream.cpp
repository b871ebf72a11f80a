#include "sim/engine/matrix_stream.h"

#include <algorithm>
#include <cstring>

#include "sim/engine/step.h"

namespace tessera::engine {
namespace {

using isa::Instruction;
using isa::Mnemonic;

constexpr std::uint8_t kT3 = 28;  // t3, t4, t5: x, partials, results
constexpr std::uint8_t kT4 = 29;
constexpr std::uint8_t kT5 = 30;
constexpr std::uint32_t kWordBytes = 8;
constexpr std::uint32_t kXBytes = 4 * kWordBytes;  // a position
constexpr std::uint32_t kFewest = 2;               // passes that are worth looking at
constexpr std::uint32_t kMost = 1U << 12;          // at once: keeps the packed counters in range

constexpr std::uint32_t phases_of(Mnemonic unit) { return unit == Mnemonic::amp_s ? 8 : 4; }

/// Addresses of the stream when its position starts: the amp at `op`, its move next.
struct Stream {
  std::uint32_t x, partials, out;  ///< t3, t4, t5
  std::uint32_t positions;
  std::uint32_t x_bytes, bytes;  ///< of inputs; of partials and of results
};

bool inside(std::uint32_t begin, std::uint32_t bytes, std::uint32_t low, std::uint32_t size) {
  return begin % kWordBytes == 0 && begin >= low && std::uint64_t{begin} + bytes <= size;
}

std::uint64_t word_at(const std::byte* memory, std::uint32_t address) {
  std::uint64_t word;
  std::memcpy(&word, memory + address, sizeof(word));
  return word;
}

/// Whether all is in memory, whether f registers still hold what was loaded last, and whether
/// results change nothing that is read later. The last result is stored by the move that follows.
template <bool kAccumulates>
bool applies(const Stream& s, const Op* op, const Context& context, const std::byte* memory,
             const Frame& frame) {
  const std::uint32_t size = frame.size;
  if (!inside(s.x, s.x_bytes + kWordBytes, kWordBytes, size) ||
      !inside(s.out, s.bytes + kWordBytes, frame.store_base[0], size)) {
    return false;
  }
  const bool apart = s.out >= s.x + s.x_bytes || s.out + s.bytes + kWordBytes <= s.x - kWordBytes;
  if (!apart || word_at(memory, s.x - kWordBytes) != context.f[op->rs1]) return false;
  if constexpr (kAccumulates) {
    if (!inside(s.partials, s.bytes + kWordBytes, kWordBytes, size)) return false;
    // Results may replace partials that were read: they must stay behind them.
    const bool behind = s.out + 2 * kWordBytes <= s.partials || s.out >= s.partials + s.bytes;
    return behind && word_at(memory, s.partials - kWordBytes) == context.f[op->rs2];
  }
  return true;
}

template <Mnemonic M>
constexpr auto kPositionsOf = M == Mnemonic::amp_h    ? packed::amp_h_positions
                              : M == Mnemonic::amp_hs ? packed::amp_hs_positions
                                                      : packed::amp_s_positions;
template <Mnemonic M>
constexpr auto kKindOf = M == Mnemonic::amp_h    ? packed::AmpKind::h
                         : M == Mnemonic::amp_hs ? packed::AmpKind::hs
                                                 : packed::AmpKind::s;

template <Mnemonic M, bool kAccumulates>
void compute(const Stream& s, const Op* op, Context& context, std::byte* memory, Frame& frame) {
  const float* rows = frame.weight_rows.rows(kKindOf<M>, frame.memory->weights);
  const std::byte* x = memory + s.x - kWordBytes;
  std::byte* out = memory + s.out + kWordBytes;
  if constexpr (kAccumulates) {
    const std::byte* partials = memory + s.partials - kWordBytes;
    kPositionsOf<M>(context.acc, context.exc, rows, s.positions, x, partials, out);
  } else {
    constexpr std::size_t kAtOnce = 16;
    constexpr std::size_t kBytes = std::size_t{phases_of(M)} * kWordBytes;
    std::uint64_t same[kAtOnce * phases_of(M)];
    std::fill(std::begin(same), std::end(same), context.f[op->rs2]);
    const auto* partials = reinterpret_cast<const std::byte*>(same);
    for (std::size_t done = 0; done < s.positions; done += kAtOnce) {
      const std::size_t count = std::min(kAtOnce, s.positions - done);
      kPositionsOf<M>(context.acc, context.exc, rows, count, x + done * kXBytes, partials,
                      out + done * kBytes);
    }
  }
}

/// All but the last pass of the loop at once; the Ops do the rest.
template <Mnemonic M, Mnemonic Move, bool kAccumulates>
void matrix_stream(const Op* op, Context* context, std::byte* memory, Frame* frame,
                   std::int64_t slots, std::uint64_t work) {
  if (frame->loops_left >= kFewest) {
    std::uint32_t* const x = context->x;
    const std::uint32_t positions = std::min(frame->loops_left - 1, kMost);
    const Stream s{x[kT3],
                   x[kT4],
                   x[kT5],
                   positions,
                   positions * kXBytes,
                   positions * phases_of(M) * kWordBytes};
    if (applies<kAccumulates>(s, op, *context, memory, *frame)) {
      const std::uint8_t stored = Move == Mnemonic::ldst ? op[1].rs3 : op[1].rs2;
      std::memcpy(memory + s.out, &context->f[stored], kWordBytes);
      compute<M, kAccumulates>(s, op, *context, memory, *frame);
      x[kT3] += s.x_bytes;
      x[kT5] += s.bytes;
      context->f[op->rs1] = word_at(memory, x[kT3] - kWordBytes);
      if constexpr (kAccumulates) {
        x[kT4] += s.bytes;
        context->f[op->rs2] = word_at(memory, x[kT4] - kWordBytes);
      }
      // The last result still waits in its register to be stored at t5, as it just was.
      context->f[stored] = word_at(memory, x[kT5]);
      context->f[op->rd] = word_at(memory, x[kT5] - kWordBytes);
      frame->loops_left -= positions;
      slots += frame->timed ? pass_times(*op->edge, positions, *context, *frame)
                            : op->edge->cost.slots * positions;
      work += op->edge->cost.work * positions;
      frame->done.lanes += op->edge->done.lanes * positions;
    }
  }
  TESSERA_TAIL sequence<Fast, M, Move>(op, context, memory, frame, slots, work);
}

/// Which move stands beside the amp of phase p: what the next phase needs decides.
struct Moves {
  bool x;
  bool partials;
};

bool is_move(const Instruction& move, const Moves& moves, const Instruction& amp,
             std::uint8_t stored) {
  if (moves.x && moves.partials) {
    return move.mnemonic == Mnemonic::ld2st && move.rd == amp.rs1 && move.rs3 == amp.rs2 &&
           move.rs2 == stored;
  }
  if (moves.x || moves.partials) {
    return move.mnemonic == Mnemonic::ldst && move.rd == (moves.x ? amp.rs1 : amp.rs2) &&
           move.rs1 == (moves.x ? kT3 : kT4) && move.rs2 == kT5 && move.rs3 == stored;
  }
  return move.mnemonic == Mnemonic::fsd_p && move.rs1 == kT5 && move.rs2 == stored &&
         move.imm == static_cast<std::int32_t>(kWordBytes);
}

/// Index of the pair that starts a position, if the body is a stream of its amp.
std::optional<std::size_t> find_start(std::span<const Instruction> body, bool accumulates) {
  const Instruction& first = body[0];
  const std::size_t phases = phases_of(first.mnemonic);
  std::optional<std::size_t> start;
  for (std::size_t i = 0; i < phases; ++i) {
    const Instruction& amp = body[2 * i];
    const Instruction& before = body[2 * ((i + phases - 1) % phases)];
    const Instruction& second = body[2 * ((i + phases - 2) % phases)];
    const auto phase = static_cast<std::uint32_t>(amp.imm) & packed::kAmpPhase;
    const auto phase_before = static_cast<std::uint32_t>(before.imm) & packed::kAmpPhase;
    const std::uint32_t flags = phase == 0 ? packed::kAmpStart : 0;
    const bool in_order = phase == (phase_before + 1) % phases &&
                          static_cast<std::uint32_t>(amp.imm) == (phase | flags);
    const bool same =
        amp.mnemonic == first.mnemonic && amp.rs1 == first.rs1 && amp.rs2 == first.rs2;
    // Two results take turns, so that the last two are those of the start's pair.
    const bool turns = amp.rd == second.rd && amp.rd != before.rd;
    const bool distinct = amp.rd != amp.rs1 && amp.rd != amp.rs2;
    const bool needs_x = phases == 4 || phase % 2 == 1;
    const bool moves = is_move(body[2 * i + 1], {needs_x, accumulates}, amp, before.rd);
    if (!in_order || !same || !turns || !distinct || !moves) return std::nullopt;
    if (phase == 0) start = 2 * i;
  }
  return first.rs1 != first.rs2 ? start : std::nullopt;
}

Handler handler_of(Mnemonic unit, bool accumulates) {
  using enum isa::Mnemonic;
  switch (unit) {
    case amp_h:
      return accumulates ? matrix_stream<amp_h, ld2st, true> : matrix_stream<amp_h, ldst, false>;
    case amp_hs:
      return accumulates ? matrix_stream<amp_hs, ld2st, true> : matrix_stream<amp_hs, ldst, false>;
    default:
      return accumulates ? matrix_stream<amp_s, ldst, true> : matrix_stream<amp_s, fsd_p, false>;
  }
}

}  // namespace

std::optional<MatrixStream> find_matrix_stream(std::span<const Instruction> body) {
  const Mnemonic unit = body[0].mnemonic;
  const bool known = unit == Mnemonic::amp_h || unit == Mnemonic::amp_hs || unit == Mnemonic::amp_s;
  if (!known || body.size() != std::size_t{2} * phases_of(unit)) return std::nullopt;
  for (const bool accumulates : {true, false}) {
    const auto start = find_start(body, accumulates);
    if (start) return MatrixStream{*start, handler_of(unit, accumulates)};
  }
  return std::nullopt;
}

}  // namespace tessera::engine
