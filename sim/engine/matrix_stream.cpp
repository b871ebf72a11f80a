#include "sim/engine/matrix_stream.h"

#include <algorithm>
#include <cstring>

#include "sim/engine/step.h"

namespace tessera::engine {
namespace {

using isa::Instruction;
using isa::Mnemonic;

constexpr std::size_t kPhases = 4;
constexpr std::uint32_t kWordBytes = 8;
constexpr std::uint32_t kPositionBytes = kPhases * kWordBytes;
constexpr std::uint32_t kFewest = 4;       // passes that are worth looking at
constexpr std::uint32_t kMost = 1U << 14;  // at once: keeps the packed counters in range

/// Addresses and registers of the stream when its position starts: the amp at `op`, its ld2st next.
struct Stream {
  std::uint32_t x, partials, out;  ///< t3, t4, t5
  std::uint32_t positions;

  [[nodiscard]] std::uint32_t bytes() const { return positions * kPositionBytes; }
};

bool inside(std::uint32_t begin, std::uint32_t bytes, std::uint32_t low, std::uint32_t size) {
  return begin % kWordBytes == 0 && begin >= low && std::uint64_t{begin} + bytes <= size;
}

/// Whether the word before `address` still is what `value` was loaded from.
bool follows(const std::byte* memory, std::uint32_t address, std::uint64_t value) {
  std::uint64_t word;
  std::memcpy(&word, memory + address - kWordBytes, sizeof(word));
  return word == value;
}

bool applies(const Stream& s, const Op* op, const Context& context, const std::byte* memory,
             const Frame& frame) {
  const std::uint32_t size = frame.memory.size;
  // The last result is stored by the ld2st that follows; it must not fault either.
  const std::uint32_t touched = s.bytes() + kWordBytes;
  if (!inside(s.x, touched, kWordBytes, size) || !inside(s.partials, touched, kWordBytes, size) ||
      !inside(s.out, touched, frame.store_base, size)) {
    return false;
  }
  const std::uint32_t x_begin = s.x - kWordBytes;
  const bool apart =
      s.out >= x_begin + s.bytes() + kWordBytes || s.out + s.bytes() + kWordBytes <= x_begin;
  // Results may replace partials that were read: they must stay behind them.
  const bool behind = s.out + 2 * kWordBytes <= s.partials || s.out >= s.partials + s.bytes();
  return apart && behind && follows(memory, s.x, context.f[op->rs1]) &&
         follows(memory, s.partials, context.f[op->rs2]);
}

template <Mnemonic M>
void compute(const Stream& s, Context& context, std::byte* memory, Frame& frame) {
  constexpr auto kKind = M == Mnemonic::amp_h ? packed::AmpKind::h : packed::AmpKind::hs;
  const float* rows = frame.weight_rows.rows(kKind, frame.weights);
  constexpr auto kRun = M == Mnemonic::amp_h ? packed::amp_h_positions : packed::amp_hs_positions;
  kRun(context.acc, context.exc, rows, s.positions, memory + s.x - kWordBytes,
       memory + s.partials - kWordBytes, memory + s.out + kWordBytes);
}

std::uint64_t word_at(const std::byte* memory, std::uint32_t address) {
  std::uint64_t word;
  std::memcpy(&word, memory + address, sizeof(word));
  return word;
}

/// All but the last two passes of the loop at once; the Ops do the rest.
template <Mnemonic M>
void matrix_stream(const Op* op, Context* context, std::byte* memory, Frame* frame,
                   std::int64_t slots, std::uint64_t work) {
  if (frame->loops_left >= kFewest) {
    std::uint32_t* const t = context->x + 28;  // t3, t4, t5
    const Stream s{t[0], t[1], t[2], std::min(frame->loops_left - 2, kMost)};
    if (applies(s, op, *context, memory, *frame)) {
      const Op* const store = op + 1;
      std::memcpy(memory + s.out, &context->f[store->rs2], kWordBytes);
      compute<M>(s, *context, memory, *frame);
      for (int i = 0; i < 3; ++i) t[i] += s.bytes();
      context->f[op->rs1] = word_at(memory, t[0] - kWordBytes);
      context->f[op->rs2] = word_at(memory, t[1] - kWordBytes);
      // The last result still waits in its register to be stored at t5, as it just was.
      context->f[store->rs2] = word_at(memory, t[2]);
      context->f[op->rd] = word_at(memory, t[2] - kWordBytes);
      frame->loops_left -= s.positions;
      slots += op->edge->cost.slots * s.positions;
      work += op->edge->cost.work * s.positions;
    }
  }
  TESSERA_TAIL sequence<Fast, M, Mnemonic::ld2st>(op, context, memory, frame, slots, work);
}

/// The phase that starts a position.
bool starts(const Instruction& amp) { return amp.imm == static_cast<int>(packed::kAmpStart); }

}  // namespace

std::optional<std::size_t> find_matrix_stream(std::span<const Instruction> body) {
  if (body.size() != 2 * kPhases) return std::nullopt;
  const Instruction& first = body[0];
  if (first.mnemonic != Mnemonic::amp_h && first.mnemonic != Mnemonic::amp_hs) return std::nullopt;
  std::optional<std::size_t> start;
  for (std::size_t i = 0; i < kPhases; ++i) {
    const Instruction& amp = body[2 * i];
    const Instruction& move = body[2 * i + 1];
    const Instruction& before = body[2 * ((i + kPhases - 1) % kPhases)];
    const auto phase = static_cast<std::uint32_t>(amp.imm) & packed::kAmpPhase;
    const auto phase_before = static_cast<std::uint32_t>(before.imm) & packed::kAmpPhase;
    const bool in_order = phase == (phase_before + 1) % kPhases;
    const bool flags = starts(amp) ? phase == 0 : amp.imm == static_cast<int>(phase) && phase != 0;
    const bool same =
        amp.mnemonic == first.mnemonic && amp.rs1 == first.rs1 && amp.rs2 == first.rs2;
    const bool moves = move.mnemonic == Mnemonic::ld2st && move.rd == amp.rs1 &&
                       move.rs3 == amp.rs2 && move.rs2 == before.rd;
    const bool distinct = amp.rd != before.rd && amp.rd != amp.rs1 && amp.rd != amp.rs2;
    if (!in_order || !flags || !same || !moves || !distinct) return std::nullopt;
    if (starts(amp)) start = 2 * i;
  }
  // Two results take turns, so that the last two are those of the start's pair.
  const bool turns = body[0].rd == body[4].rd && body[2].rd == body[6].rd;
  return first.rs1 != first.rs2 && turns ? start : std::nullopt;
}

Handler matrix_stream_handler(Mnemonic kind) {
  return kind == Mnemonic::amp_h ? matrix_stream<Mnemonic::amp_h> : matrix_stream<Mnemonic::amp_hs>;
}

}  // namespace tessera::engine
