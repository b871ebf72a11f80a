#pragma once

#include <cstdint>
#include <optional>

#include "sim/isa/float/host_environment.h"
#include "sim/isa/float/quiet.h"
#include "sim/isa/float/soft.h"

/// The functions of fast.h for any host: software arithmetic whose flags are then raised in the
/// host's floating-point environment.
namespace tessera::fp::portable {

constexpr Rounding kNearest = Rounding::rne;

using Word = Bits<F32>;
using Half = Bits<F16>;

/// An operation of soft.h in a rounding mode, or of quiet.h, whose flags are raised in the host.
template <Rounding kMode, auto kOperation, class... Operands>
auto raised(Operands... operands) {
  return raising([=](std::uint32_t& flags) {
    if constexpr (std::is_invocable_v<decltype(kOperation), Operands..., Rounding, std::uint32_t&>)
      return kOperation(operands..., kMode, flags);
    else
      return kOperation(operands..., flags);
  });
}

inline constexpr auto f32_add = raised<kNearest, soft::add<F32>, Word, Word>;
inline constexpr auto f32_sub = raised<kNearest, soft::sub<F32>, Word, Word>;
inline constexpr auto f32_mul = raised<kNearest, soft::mul<F32>, Word, Word>;
inline constexpr auto f32_div = raised<kNearest, soft::div<F32>, Word, Word>;
inline constexpr auto f32_sqrt = raised<kNearest, soft::sqrt<F32>, Word>;
inline constexpr auto f32_fma = raised<kNearest, soft::fma<F32>, Word, Word, Word>;
inline constexpr auto f32_eq = raised<kNearest, fp::eq<F32>, Word, Word>;
inline constexpr auto f32_lt = raised<kNearest, fp::lt<F32>, Word, Word>;
inline constexpr auto f32_le = raised<kNearest, fp::le<F32>, Word, Word>;
inline constexpr auto f32_to_i32_rtz = raised<Rounding::rtz, soft::to_i32<F32>, Word>;
inline constexpr auto f32_from_i32 = raised<kNearest, soft::from_i32<F32>, Word>;
inline constexpr auto f32_to_u32_rtz = raised<Rounding::rtz, soft::to_u32<F32>, Word>;
inline constexpr auto f32_from_u32 = raised<kNearest, soft::from_u32<F32>, Word>;

inline constexpr auto f16_add = raised<kNearest, soft::add<F16>, Half, Half>;
inline constexpr auto f16_sub = raised<kNearest, soft::sub<F16>, Half, Half>;
inline constexpr auto f16_mul = raised<kNearest, soft::mul<F16>, Half, Half>;
inline constexpr auto f16_div = raised<kNearest, soft::div<F16>, Half, Half>;
inline constexpr auto f16_sqrt = raised<kNearest, soft::sqrt<F16>, Half>;
inline constexpr auto f16_fma = raised<kNearest, soft::fma<F16>, Half, Half, Half>;
inline constexpr auto f16_eq = raised<kNearest, fp::eq<F16>, Half, Half>;
inline constexpr auto f16_lt = raised<kNearest, fp::lt<F16>, Half, Half>;
inline constexpr auto f16_le = raised<kNearest, fp::le<F16>, Half, Half>;
inline constexpr auto f16_to_i32_rtz = raised<Rounding::rtz, soft::to_i32<F16>, Half>;
inline constexpr auto f16_from_i32 = raised<kNearest, soft::from_i32<F16>, Word>;
inline constexpr auto f16_to_u32_rtz = raised<Rounding::rtz, soft::to_u32<F16>, Half>;
inline constexpr auto f16_from_u32 = raised<kNearest, soft::from_u32<F16>, Word>;

inline constexpr auto f32_from_f16 = raised<kNearest, soft::convert<F32, F16>, Half>;
inline constexpr auto f16_from_f32 = raised<kNearest, soft::convert<F16, F32>, Word>;

inline std::optional<Word> f32_fma_number(Word a, Word b, Word c) { return f32_fma(a, b, c); }

}  // namespace tessera::fp::portable
