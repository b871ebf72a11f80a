#include "sim/engine/result_costs.h"

#include <algorithm>
#include <array>

namespace tessera::engine {
namespace {

using isa::Activity;
using isa::ResultClass;
using L = LatencyConfig;
using S = SlotCosts;
using I = IntervalConfig;

constexpr CostKey<S> kPlain{"plain", &S::plain};
constexpr CostKey<S> kAdd{"float_add", &S::float_add};
constexpr CostKey<S> kMultiply{"float_multiply", &S::float_multiply};
constexpr CostKey<S> kFused{"float_fma", &S::float_fma};
constexpr CostKey<S> kDivide{"float_divide", &S::float_divide};
constexpr CostKey<I> kFloating{"floating", &I::floating};
constexpr CostKey<I> kDivides{"float_divide", &I::float_divide};

constexpr std::array kCosts = {
    ResultCosts{ResultClass::integer, Activity::integer, {"integer", &L::integer}, kPlain},
    ResultCosts{ResultClass::integer_multiply,
                Activity::integer_multiply,
                {"integer_multiply", &L::integer_multiply},
                {"integer_multiply", &S::integer_multiply},
                Unit::integer_multiply,
                {"integer_multiply", &I::integer_multiply}},
    ResultCosts{ResultClass::integer_divide,
                Activity::integer_divides,
                {"integer_divide", &L::integer_divide},
                {"integer_divide", &S::integer_divide},
                Unit::integer_divide,
                {"integer_divide", &I::integer_divide}},
    ResultCosts{ResultClass::f32_add,
                Activity::f32_adds,
                {"f32_add", &L::f32_add},
                kAdd,
                Unit::floating,
                kFloating},
    ResultCosts{ResultClass::f32_multiply,
                Activity::f32_multiplies,
                {"f32_multiply", &L::f32_multiply},
                kMultiply,
                Unit::floating,
                kFloating},
    ResultCosts{ResultClass::f32_fma,
                Activity::f32_adds,
                {"f32_fma", &L::f32_fma},
                kFused,
                Unit::floating,
                kFloating},
    ResultCosts{ResultClass::f16_add,
                Activity::f16_adds,
                {"f16_add", &L::f16_add},
                kAdd,
                Unit::floating,
                kFloating},
    ResultCosts{ResultClass::f16_multiply,
                Activity::f16_multiplies,
                {"f16_multiply", &L::f16_multiply},
                kMultiply,
                Unit::floating,
                kFloating},
    ResultCosts{ResultClass::f16_fma,
                Activity::f16_adds,
                {"f16_fma", &L::f16_fma},
                kFused,
                Unit::floating,
                kFloating},
    ResultCosts{
        ResultClass::float_move, Activity::floating, {"float_move", &L::float_move}, kPlain},
    ResultCosts{ResultClass::float_divide,
                Activity::float_divides,
                {"float_divide", &L::float_divide},
                kDivide,
                Unit::float_divide,
                kDivides},
    ResultCosts{ResultClass::square_root,
                Activity::float_divides,
                {"square_root", &L::square_root},
                kDivide,
                Unit::float_divide,
                kDivides},
    ResultCosts{ResultClass::activation,
                Activity::activations,
                {"activation", &L::activation},
                {"activation", &S::activation},
                Unit::activation,
                {"activation", &I::activation}},
    ResultCosts{ResultClass::matrix, Activity::floating, {"matrix", &L::matrix}, {}, Unit::matrix}};

constexpr bool ordered() {
  for (std::size_t i = 0; i < kCosts.size(); ++i)
    if (kCosts[i].result != static_cast<ResultClass>(i)) return false;
  return kCosts.back().result == ResultClass::matrix;
}
static_assert(ordered());

}  // namespace

std::span<const ResultCosts> result_costs() { return kCosts; }

}  // namespace tessera::engine
