#pragma once

#include "sim/isa/float/fast.h"
#include "sim/isa/packed/lanes.h"

/// The functions of packed.h, lane by lane: for hosts without SIMD code, for rare NaN lanes on
/// others, and for tests.
namespace tessera::packed::portable {

template <class Operation, class... Args>
std::uint64_t each_h(Operation operation, Args... args) {
  return join_h(operation(lane_h(args, 0)...), operation(lane_h(args, 1)...),
                operation(lane_h(args, 2)...), operation(lane_h(args, 3)...));
}
template <class Operation, class... Args>
std::uint64_t each_s(Operation operation, Args... args) {
  return join_s(operation(lane_s(args, 0)...), operation(lane_s(args, 1)...));
}

inline std::uint64_t add_4h(std::uint64_t a, std::uint64_t b) { return each_h(fp::f16_add, a, b); }
inline std::uint64_t sub_4h(std::uint64_t a, std::uint64_t b) { return each_h(fp::f16_sub, a, b); }
inline std::uint64_t mul_4h(std::uint64_t a, std::uint64_t b) { return each_h(fp::f16_mul, a, b); }
inline std::uint64_t min_4h(std::uint64_t a, std::uint64_t b) {
  return each_h(fp::host_min<fp::F16>, a, b);
}
inline std::uint64_t max_4h(std::uint64_t a, std::uint64_t b) {
  return each_h(fp::host_max<fp::F16>, a, b);
}
inline std::uint64_t gt_4h(std::uint64_t a, std::uint64_t b) {
  const auto greater = [](std::uint16_t x, std::uint16_t y) {
    return static_cast<std::uint16_t>(fp::f16_lt(y, x) ? 0xffff : 0);
  };
  return each_h(greater, a, b);
}
inline std::uint64_t fma_4h(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return each_h(fp::f16_fma, a, b, c);
}

inline std::uint64_t add_2s(std::uint64_t a, std::uint64_t b) { return each_s(fp::f32_add, a, b); }
inline std::uint64_t sub_2s(std::uint64_t a, std::uint64_t b) { return each_s(fp::f32_sub, a, b); }
inline std::uint64_t mul_2s(std::uint64_t a, std::uint64_t b) { return each_s(fp::f32_mul, a, b); }
inline std::uint64_t min_2s(std::uint64_t a, std::uint64_t b) {
  return each_s(fp::host_min<fp::F32>, a, b);
}
inline std::uint64_t max_2s(std::uint64_t a, std::uint64_t b) {
  return each_s(fp::host_max<fp::F32>, a, b);
}
inline std::uint64_t gt_2s(std::uint64_t a, std::uint64_t b) {
  const auto greater = [](std::uint32_t x, std::uint32_t y) {
    return fp::f32_lt(y, x) ? 0xffff'ffffU : 0U;
  };
  return each_s(greater, a, b);
}
inline std::uint64_t fma_2s(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return each_s(fp::f32_fma, a, b, c);
}

inline std::uint64_t dot2_s_h(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const auto lane = [=](unsigned l) {
    const auto term = [=](unsigned k, std::uint32_t sum) {
      return fp::f32_fma(fp::f32_from_f16(lane_h(a, k)), fp::f32_from_f16(lane_h(b, k)), sum);
    };
    return term(2 * l + 1, term(2 * l, lane_s(c, l)));
  };
  return join_s(lane(0), lane(1));
}

inline std::uint64_t pack_4h(std::uint64_t a, std::uint64_t b) {
  return join_h(fp::f16_from_f32(lane_s(a, 0)), fp::f16_from_f32(lane_s(a, 1)),
                fp::f16_from_f32(lane_s(b, 0)), fp::f16_from_f32(lane_s(b, 1)));
}
inline std::uint64_t unpkl_2s(std::uint64_t a) {
  return join_s(fp::f32_from_f16(lane_h(a, 0)), fp::f32_from_f16(lane_h(a, 1)));
}

}  // namespace tessera::packed::portable
