#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "sim/engine/memory_access.h"
#include "sim/engine/op.h"
#include "sim/isa/float/format.h"
#include "sim/isa/mnemonic.h"

namespace tessera::engine {

/// Execution mode of a handler. `kHostRounding`: nearest even with host arithmetic; otherwise
/// software arithmetic in the mode of the instruction or fcsr. `kQuick`: gives up without side
/// effects where a call would be needed (faults, NaNs), since calls would make each handler save
/// registers. `kCounts`: taken edges add to Frame::done. `kTimed`: edges may cost waits.
struct Fast {
  static constexpr bool kHostRounding = true;
  static constexpr bool kRecords = false;
  static constexpr bool kQuick = true;
  static constexpr bool kCounts = false;
  static constexpr bool kTimed = false;
};
/// Runs as Fast, and counts activities (isa::Activity) at block exits.
struct Counting : Fast {
  static constexpr bool kCounts = true;
};
/// Runs as Counting, for codes whose instructions may wait for results.
struct Timed : Counting {
  static constexpr bool kTimed = true;
};
/// Executes what Fast gave up.
struct Careful {
  static constexpr bool kHostRounding = true;
  static constexpr bool kRecords = false;
  static constexpr bool kQuick = false;
  static constexpr bool kCounts = false;
  static constexpr bool kTimed = false;
};
/// For instructions with a rounding mode other than the usual one.
struct Directed {
  static constexpr bool kHostRounding = false;
  static constexpr bool kRecords = false;
  static constexpr bool kQuick = false;
  static constexpr bool kCounts = false;
  static constexpr bool kTimed = false;
};
/// Records accesses if the frame has a log; also used while frm is not nearest even.
struct Checked {
  static constexpr bool kHostRounding = false;
  static constexpr bool kRecords = true;
  static constexpr bool kQuick = false;
  static constexpr bool kCounts = true;
  static constexpr bool kTimed = true;
};

/// Selects the semantics of one instruction: `execute(Is<addi>, hart)`.
template <isa::Mnemonic M>
struct Is {};

/// State that one instruction works on: its operands, the registers and the memory.
template <class M>
class Hart {
 public:
  using Mode = M;

  Hart(const Op* op, Context* context, std::byte* memory, Frame* frame)
      : op_(op), context_(context), memory_(memory), frame_(frame) {}

  [[nodiscard]] std::uint32_t imm() const { return static_cast<std::uint32_t>(op_->imm); }
  [[nodiscard]] std::uint32_t rs1() const { return context_->x[op_->rs1]; }
  [[nodiscard]] std::uint32_t rs2() const { return context_->x[op_->rs2]; }
  void rd(std::uint32_t value) { context_->x[op_->rd] = value; }

  [[nodiscard]] std::uint64_t fd() const { return context_->f[op_->rd]; }
  [[nodiscard]] std::uint64_t fs1() const { return context_->f[op_->rs1]; }
  [[nodiscard]] std::uint64_t fs2() const { return context_->f[op_->rs2]; }
  [[nodiscard]] std::uint64_t fs3() const { return context_->f[op_->rs3]; }
  void fd(std::uint64_t value) {
    if (!gave_up_) context_->f[op_->rd] = value;
  }

  /// The binary32 operands.
  [[nodiscard]] std::uint32_t fs1_f32() const { return unboxed(context_->f[op_->rs1]); }
  [[nodiscard]] std::uint32_t fs2_f32() const { return unboxed(context_->f[op_->rs2]); }
  [[nodiscard]] std::uint32_t fs3_f32() const { return unboxed(context_->f[op_->rs3]); }
  void fd_f32(std::uint32_t value) {
    if (!gave_up_) box(context_->f[op_->rd], value);
  }

  [[nodiscard]] const Op& op() const { return *op_; }
  Context& context() { return *context_; }
  Frame& frame() { return *frame_; }
  std::byte* memory() { return memory_; }

  /// Moves an address register, which may be x0.
  void advance(std::uint8_t number, std::uint32_t bytes) {
    context_->x[number] += bytes;
    context_->x[0] = 0;
  }

  template <class T>
  bool load(std::uint32_t address, T& value) {
    return engine::load<Mode>(memory_, *frame_, address, value);
  }
  template <class T>
  bool store(std::uint32_t address, T value) {
    return engine::store<Mode>(memory_, *frame_, address, value);
  }

  /// True if a store of a T succeeds; else notes its fault if the mode does.
  template <class T>
  bool may_store(std::uint32_t address) {
    return store_passes<T>(*frame_, address) ||
           (!Mode::kQuick && check_store(*frame_, address, sizeof(T)));
  }

  /// Quick modes: the result cannot be computed here; changes nothing.
  void give_up() { gave_up_ = true; }
  [[nodiscard]] bool gave_up() const { return gave_up_; }

  /// The effective rounding mode: the instruction's, or fcsr's if that is 7 (dynamic).
  [[nodiscard]] fp::Rounding rounding() const {
    const std::uint32_t own = imm();
    return static_cast<fp::Rounding>(own == 7 ? context_->fcsr >> 5 & 7U : own);
  }
  /// Accumulates the software arithmetic's exception flags.
  std::uint32_t& flags() { return context_->fcsr; }

 private:
  // Moves both halves of a box separately, which is less work than joining and splitting them.
  // Badly boxed values are rare: a branch avoids waiting for the comparison.
  static std::uint32_t unboxed(const std::uint64_t& f) {
    if constexpr (std::endian::native == std::endian::little) {
      std::uint32_t halves[2];
      std::memcpy(&halves[1], reinterpret_cast<const char*>(&f) + 4, 4);
      if (halves[1] != ~0U) [[unlikely]] {
        asm volatile("");  // or the compiler makes it a conditional move
        return fp::F32::kNan;
      }
      std::memcpy(&halves[0], &f, 4);
      return halves[0];
    }
    return fp::unbox<fp::F32>(f);
  }
  static void box(std::uint64_t& f, std::uint32_t value) {
    if constexpr (std::endian::native == std::endian::little) {
      const std::uint32_t ones = ~0U;
      std::memcpy(&f, &value, 4);
      std::memcpy(reinterpret_cast<char*>(&f) + 4, &ones, 4);
    } else {
      f = fp::box<fp::F32>(value);
    }
  }

  const Op* op_;
  Context* context_;
  std::byte* memory_;
  Frame* frame_;
  bool gave_up_ = false;
};

}  // namespace tessera::engine
