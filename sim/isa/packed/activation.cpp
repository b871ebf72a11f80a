#include "sim/isa/packed/activation.h"

#include <bit>

#include "sim/isa/float/round.h"

namespace tessera::packed {

namespace {

using fp::F32;
__extension__ using Signed = __int128;
__extension__ using Unsigned = unsigned __int128;

constexpr std::int64_t kOne = std::int64_t{1} << 62;  // fixed point: 62 bits after the point
constexpr int kTimeFraction = 54;                     // of an exponent of two, below 2^8

// (ln 2)^k / k!, 62 bits after the point.
constexpr std::int64_t kExp2[] = {4'611'686'018'427'387'904,
                                  3'196'577'161'300'663'915,
                                  1'107'849'223'398'934'356,
                                  255'967'521'894'832'113,
                                  44'355'791'529'079'737,
                                  6'149'018'367'977'265,
                                  710'362'457'495'793,
                                  70'340'819'226'978,
                                  6'094'567'565'682,
                                  469'381'369'432,
                                  32'535'037'283};
// 2 / (ln 2 * (2k + 1)), 61 bits after the point.
constexpr std::int64_t kLog2[] = {
    6'653'256'548'922'161'246, 2'217'752'182'974'053'749, 1'330'651'309'784'432'249,
    950'465'221'274'594'464,   739'250'727'658'017'916,   604'841'504'447'469'204,
    511'788'965'301'704'711,   443'550'436'594'810'750,   391'368'032'289'538'897};
// Taylor series of tanh(x) / x in x^2, 62 bits after the point.
constexpr std::int64_t kTanh[] = {4'611'686'018'427'387'904, -1'537'228'672'809'129'301,
                                  614'891'469'123'651'721,   -248'884'642'264'335'220,
                                  100'855'214'512'344'991,   -40'874'459'371'278'820,
                                  16'565'766'642'662'335,    -6'713'851'087'910'371};
constexpr std::uint64_t kLog2OfE = 6'653'256'548'922'161'246;  // 62 bits after the point

std::int64_t multiply(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<Signed>(a) * b >> 62);
}

template <std::size_t kTerms>
std::int64_t polynomial(const std::int64_t (&coefficients)[kTerms], std::int64_t x) {
  std::int64_t sum = coefficients[kTerms - 1];
  for (std::size_t k = kTerms - 1; k-- > 0;) sum = coefficients[k] + multiply(sum, x);
  return sum;
}

/// value * 2^exponent rounded to nearest even; activations raise no flags.
std::uint32_t round_f32(bool negative, Unsigned value, int exponent) {
  if (value == 0) return negative ? F32::kSign : 0;
  const auto high = static_cast<std::uint64_t>(value >> 64);
  const int zeros =
      high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(static_cast<std::uint64_t>(value));
  const Unsigned top = fp::shift_right_sticky<Unsigned>(value << zeros, 64);
  std::uint32_t flags = 0;
  return fp::round_pack<F32>({negative, exponent + 127 - zeros, static_cast<std::uint64_t>(top)},
                             fp::Rounding::rne, flags);
}

/// 2^power = fraction * 2^integer, fraction in [0.7, 1.42).
struct PowerOfTwo {
  std::int64_t fraction;
  int integer;
};
/// power: kTimeFraction bits after the point.
PowerOfTwo power_of_two(std::int64_t power) {
  const std::int64_t integer = (power + (std::int64_t{1} << (kTimeFraction - 1))) >> kTimeFraction;
  const std::int64_t rest = power - integer * (std::int64_t{1} << kTimeFraction);
  return {polynomial(kExp2, rest * (std::int64_t{1} << (62 - kTimeFraction))),
          static_cast<int>(integer)};
}

/// exp(-scale * |x|) for |x| < 128, scale 1 or 2 given as its logarithm.
PowerOfTwo decay(const fp::Unpacked& x, int log_scale) {
  const Unsigned product = static_cast<Unsigned>(x.significand) * kLog2OfE;
  const int shift = 63 + 62 - kTimeFraction - x.exponent - log_scale;
  const auto power = static_cast<std::int64_t>(shift < 128 ? product >> shift : 0);
  return power_of_two(-power);
}

/// The fixed-point value of y = fraction * 2^integer <= 1.
std::int64_t fixed(const PowerOfTwo& y) { return y.integer <= -63 ? 0 : y.fraction >> -y.integer; }

std::uint32_t root(std::uint64_t square) {
  std::uint64_t result = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 31; bit != 0; bit >>= 1) {
    const std::uint64_t trial = result | bit;
    if (trial * trial <= square) result = trial;
  }
  return static_cast<std::uint32_t>(result);
}

}  // namespace

std::uint32_t act_exp2(std::uint32_t bits) {
  const bool negative = fp::is_negative<F32>(bits);
  if (fp::is_nan<F32>(bits)) return F32::kNan;
  if (fp::is_zero<F32>(bits)) return F32::kOne;
  const fp::Unpacked x = fp::unpack<F32>(bits);
  if (x.exponent >= 8) return negative ? 0 : F32::kInfinity;
  const auto size = static_cast<std::int64_t>(
      fp::shift_right_sticky(x.significand, 63 - kTimeFraction - x.exponent));
  const PowerOfTwo y = power_of_two(negative ? -size : size);
  return round_f32(false, static_cast<Unsigned>(y.fraction), y.integer - 62);
}

std::uint32_t act_log2(std::uint32_t bits) {
  if (fp::is_zero<F32>(bits)) return F32::kSign | F32::kInfinity;
  if (fp::is_nan<F32>(bits) || fp::is_negative<F32>(bits)) return F32::kNan;
  if (fp::is_infinite<F32>(bits)) return F32::kInfinity;
  constexpr std::uint64_t kRootOfTwo = 0xb504'f333'f9de'6484;
  const fp::Unpacked x = fp::unpack<F32>(bits);
  // x = m * 2^exponent with m in [sqrt(1/2), sqrt(2)); log2(m) = 2 / ln 2 * atanh((m-1)/(m+1)).
  const bool upper = x.significand > kRootOfTwo;
  const Signed one = static_cast<Signed>(1) << (upper ? 64 : 63);
  const int exponent = x.exponent + (upper ? 1 : 0);
  const Signed above = static_cast<Signed>(x.significand) - one;
  const Signed below = static_cast<Signed>(x.significand) + one;
  const auto ratio = static_cast<std::int64_t>(above * kOne / below);
  const std::int64_t series = polynomial(kLog2, multiply(ratio, ratio));
  const Signed sum = static_cast<Signed>(ratio) * series / 32 +  // 118 bits after the point
                     static_cast<Signed>(exponent) * (static_cast<Signed>(1) << 118);
  return round_f32(sum < 0, static_cast<Unsigned>(sum < 0 ? -sum : sum), -118);
}

std::uint32_t act_sigmoid(std::uint32_t bits) {
  const bool negative = fp::is_negative<F32>(bits);
  if (fp::is_nan<F32>(bits)) return F32::kNan;
  constexpr std::uint32_t kHalf = 0x3f00'0000;
  if (fp::is_zero<F32>(bits)) return kHalf;
  const fp::Unpacked x = fp::unpack<F32>(bits);
  if (x.exponent >= 7) return negative ? 0 : F32::kOne;
  const PowerOfTwo y = decay(x, 0);
  const Unsigned denominator = static_cast<Unsigned>(kOne) + static_cast<Unsigned>(fixed(y));
  if (negative) {
    const Unsigned quotient = (static_cast<Unsigned>(y.fraction) << 62) / denominator;
    return round_f32(false, quotient, y.integer - 62);
  }
  return round_f32(false, (static_cast<Unsigned>(kOne) << 62) / denominator, -62);
}

std::uint32_t act_tanh(std::uint32_t bits) {
  const bool negative = fp::is_negative<F32>(bits);
  if (fp::is_nan<F32>(bits)) return F32::kNan;
  if (fp::is_zero<F32>(bits)) return bits;
  const fp::Unpacked x = fp::unpack<F32>(bits);
  if (x.exponent >= 4) return (bits & F32::kSign) | F32::kOne;
  if (x.exponent < -3) {
    const auto size =
        static_cast<std::int64_t>(fp::shift_right_sticky(x.significand, 1 - x.exponent));
    const std::int64_t series = polynomial(kTanh, multiply(size, size));
    const Unsigned product = static_cast<Unsigned>(x.significand) * static_cast<Unsigned>(series);
    return round_f32(negative, product, x.exponent - 63 - 62);
  }
  const std::int64_t y = fixed(decay(x, 1));
  const std::int64_t above = kOne - y;
  const std::int64_t below = kOne + y;
  const Unsigned quotient = (static_cast<Unsigned>(above) << 62) / static_cast<Unsigned>(below);
  return round_f32(negative, quotient, -62);
}

std::uint32_t act_rsqrt(std::uint32_t bits) {
  if (fp::is_zero<F32>(bits)) return bits | F32::kInfinity;
  if (fp::is_nan<F32>(bits) || fp::is_negative<F32>(bits)) return F32::kNan;
  if (fp::is_infinite<F32>(bits)) return 0;
  const fp::Unpacked x = fp::unpack<F32>(bits);
  // x = m * 2^even with m in [1, 4); dividend / significand = 2^62 / m.
  const bool odd = (x.exponent & 1) != 0;
  const Unsigned dividend = static_cast<Unsigned>(1) << (odd ? 124 : 125);
  const std::uint64_t result = root(static_cast<std::uint64_t>(dividend / x.significand));
  const bool exact = static_cast<Unsigned>(result * result) * x.significand == dividend;
  const int half_exponent = (odd ? x.exponent - 1 : x.exponent) / 2;
  return round_f32(false, static_cast<Unsigned>(result) << 1 | (exact ? 0 : 1),
                   -half_exponent - 32);
}

}  // namespace tessera::packed
