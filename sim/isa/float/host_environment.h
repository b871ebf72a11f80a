#pragma once

#include <cfenv>
#include <cstdint>

#include "sim/isa/float/format.h"

#if defined(__x86_64__) && defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define TESSERA_HOST_FLOAT 1
#else
#define TESSERA_HOST_FLOAT 0
#endif

/// Uses the host's sticky exception flags as fcsr.fflags while guest code runs.
///
/// Contract: one HostEnvironment lives on the host thread while guest instructions run; within it
/// the host rounds to nearest even, keeps subnormals and traps nothing. Functions "with host flags"
/// (fast.h, packed/) leave their flags in the host. Before reading fcsr or leaving the environment,
/// OR take_flags() into fcsr. No other host floating-point arithmetic is allowed inside. Nesting
/// one in another, after taking its flags, is almost free.
namespace tessera::fp {

#if TESSERA_HOST_FLOAT

/// Defines name(a, b) as one instruction of two registers. Volatile: no optimiser folds, repeats,
/// speculates or drops it, each of which would change the sticky flags.
#define TESSERA_HOST_OPERATION(Register, name, instruction)             \
  inline Register name(Register a, Register b) {                        \
    Register r;                                                         \
    asm volatile(instruction " %2, %1, %0" : "=x"(r) : "x"(a), "x"(b)); \
    return r;                                                           \
  }

/// fflags of an MXCSR value; x86's denormal flag has no counterpart.
constexpr std::uint32_t flags_of_mxcsr(std::uint32_t mxcsr) {
  return (mxcsr >> 5 & 1U) | (mxcsr >> 3 & 2U) | (mxcsr >> 1 & 4U) | (mxcsr << 1 & 8U) |
         (mxcsr << 4 & 16U);
}
constexpr std::uint32_t mxcsr_of_flags(std::uint32_t flags) {
  return (flags & 1U) << 5 | (flags & 2U) << 3 | (flags & 4U) << 1 | (flags & 8U) >> 1 |
         (flags & 16U) >> 4;
}

// Volatile assembly, because compilers move intrinsics across floating-point arithmetic.
inline std::uint32_t read_mxcsr() {
  std::uint32_t value;
  asm volatile("vstmxcsr %0" : "=m"(value) : : "memory");
  return value;
}
inline void write_mxcsr(std::uint32_t value) {
  asm volatile("vldmxcsr %0" : : "m"(value) : "memory");
}

/// Sets flags (bits of fflags) in the host's sticky flags. Slow: for rare cases.
inline void raise_flags(std::uint32_t flags) {
  if (flags != 0) write_mxcsr(read_mxcsr() | mxcsr_of_flags(flags));
}

class HostEnvironment {
 public:
  HostEnvironment() : outer_(read_mxcsr()) {
    if (outer_ != kGuest) write_mxcsr(kGuest);
  }
  ~HostEnvironment() {
    if (outer_ != kGuest) write_mxcsr(outer_);
  }
  HostEnvironment(const HostEnvironment&) = delete;
  HostEnvironment& operator=(const HostEnvironment&) = delete;

  /// The flags (bits of fflags) accrued since the last call; clears them.
  [[nodiscard]] std::uint32_t
  take_flags() {  // NOLINT(readability-convert-member-functions-to-static)
    const std::uint32_t mxcsr = read_mxcsr();
    if ((mxcsr & kSticky) == 0) [[likely]]
      return 0;
    write_mxcsr(kGuest);
    return flags_of_mxcsr(mxcsr);
  }

 private:
  static constexpr std::uint32_t kGuest = 0x1f80;  // all masked, nearest even, no FTZ, no DAZ
  static constexpr std::uint32_t kSticky = 0x3d;   // without x86's denormal flag
  std::uint32_t outer_;
};

#else

inline void raise_flags(std::uint32_t flags) {
  if ((flags & kInexact) != 0) std::feraiseexcept(FE_INEXACT);
  if ((flags & kUnderflow) != 0) std::feraiseexcept(FE_UNDERFLOW);
  if ((flags & kOverflow) != 0) std::feraiseexcept(FE_OVERFLOW);
  if ((flags & kDivideByZero) != 0) std::feraiseexcept(FE_DIVBYZERO);
  if ((flags & kInvalid) != 0) std::feraiseexcept(FE_INVALID);
}

class HostEnvironment {
 public:
  HostEnvironment() { std::feholdexcept(&outer_); }
  ~HostEnvironment() { std::fesetenv(&outer_); }
  HostEnvironment(const HostEnvironment&) = delete;
  HostEnvironment& operator=(const HostEnvironment&) = delete;

  [[nodiscard]] std::uint32_t take_flags() {
    const int raised = std::fetestexcept(FE_ALL_EXCEPT);
    std::feclearexcept(FE_ALL_EXCEPT);
    return ((raised & FE_INEXACT) != 0 ? kInexact : 0) |
           ((raised & FE_UNDERFLOW) != 0 ? kUnderflow : 0) |
           ((raised & FE_OVERFLOW) != 0 ? kOverflow : 0) |
           ((raised & FE_DIVBYZERO) != 0 ? kDivideByZero : 0) |
           ((raised & FE_INVALID) != 0 ? kInvalid : 0);
  }

 private:
  std::fenv_t outer_;
};

#endif

/// Calls operation(flags) and raises the reported flags in the host.
template <class Operation>
auto raising(Operation operation) {
  std::uint32_t flags = 0;
  const auto result = operation(flags);
  if (flags != 0) [[unlikely]]
    raise_flags(flags);
  return result;
}

}  // namespace tessera::fp
