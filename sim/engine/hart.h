#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "sim/engine/memory_access.h"
#include "sim/engine/op.h"
#include "sim/isa/float/format.h"
#include "sim/isa/mnemonic.h"

namespace tessera::engine {

/// How a handler executes. `kHostRounding`: nearest even by the host's own arithmetic; otherwise
/// the software's, in the mode that the instruction or fcsr says. `kQuick`: gives up, with nothing
/// changed, where calls would be needed (faults, NaNs): they would make each handler save
/// registers. `kCounts`: edges taken add to Frame::done. `kTimed`: they may cost waits.
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
/// Does what Fast gave up.
struct Careful {
  static constexpr bool kHostRounding = true;
  static constexpr bool kRecords = false;
  static constexpr bool kQuick = false;
  static constexpr bool kCounts = false;
  static constexpr bool kTimed = false;
};
/// For instructions that name a rounding mode other than the usual one.
struct Directed {
  static constexpr bool kHostRounding = false;
  static constexpr bool kRecords = false;
  static constexpr bool kQuick = false;
  static constexpr bool kCounts = false;
  static constexpr bool kTimed = false;
};
/// Records accesses where the frame has a log; also taken while frm is not nearest even.
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

  /// True if a store of a T goes through; notes its fault where the mode does.
  template <class T>
  bool may_store(std::uint32_t address) {
    return store_passes<T>(*frame_, address) ||
           (!Mode::kQuick && check_store(*frame_, address, sizeof(T)));
  }

  /// Quick modes: the result is not known here, nothing is to change.
  void give_up() { gave_up_ = true; }
  [[nodiscard]] bool gave_up() const { return gave_up_; }

  /// The rounding mode in force: the instruction's, or fcsr's where that says so (7).
  [[nodiscard]] fp::Rounding rounding() const {
    const std::uint32_t own = imm();
    return static_cast<fp::Rounding>(own == 7 ? context_->fcsr >> 5 & 7U : own);
  }
  /// Where the software's arithmetic accrues flags.
  std::uint32_t& flags() { return context_->fcsr; }

 private:
  // Both halves of a box are moved for themselves, which is less work than to join and to part
  // them. A badly boxed value is rare and a branch, so that nobody waits for the comparison.
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
