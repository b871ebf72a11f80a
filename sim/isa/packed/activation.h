#pragma once

#include <cstdint>

/// act.*: f32 functions with integer arithmetic only: equal bits on every host, no flags.
///
/// Correctly rounded up to an error of about 2^-13 ulp before rounding: below 0.5002 ulp (rsqrt:
/// 0.5). NaN gives the canonical NaN. Results below the least normal round as subnormals.
namespace tessera::packed {

std::uint32_t act_exp2(std::uint32_t bits);
/// log2(+-0) = -infinity; negative: NaN.
std::uint32_t act_log2(std::uint32_t bits);
std::uint32_t act_tanh(std::uint32_t bits);
/// 1 / (1 + e^-x)
std::uint32_t act_sigmoid(std::uint32_t bits);
/// 1 / sqrt(x); +-0 gives the infinity of its sign; negative: NaN.
std::uint32_t act_rsqrt(std::uint32_t bits);

}  // namespace tessera::packed
