#pragma once

#include "kernels/tile_code.h"

/// Shared by all tile code of training. Matrices are padded with zeros. Every call ends its worker.
namespace training {

using namespace kernels;

/// Load or store a number at `at` and advance `at`; f16 is converted from and to f32.
inline float take(const float*& at) { return xtile::flw_p<4>(at); }
inline float take(const Half*& at) { return static_cast<float>(xtile::flh_p<2>(at)); }
inline void put(float value, float*& at) { xtile::fsw_p<4>(value, at); }
inline void put(float value, Half*& at) { xtile::fsh_p<2>(static_cast<Half>(value), at); }

/// Cosine and sine of an angle: reduction by quarter turns, then the polynomials of Cephes' sinf
/// and cosf, accurate to 2^-25 within an eighth of a turn either way.
struct Turn {
  float cosine, sine;

  explicit Turn(float angle) {
    const float half = constant(0.5F);
    const float turns = angle * constant(0.63661977236758134F);
    const int quarter = static_cast<int>(turns < 0.0F ? turns - half : turns + half);
    const float q = static_cast<float>(quarter);
    float x = angle - q * constant(1.5707855224609375F);  // pi / 2 in two parts
    x = x - q * constant(1.0804334124e-5F);
    const float y = x * x;
    float s = constant(-1.9515295891e-4F) * y + constant(8.3321608736e-3F);
    s = s * y - constant(1.6666654611e-1F);
    s = s * y * x + x;
    float c = constant(2.443315711809948e-5F) * y - constant(1.388731625493765e-3F);
    c = c * y + constant(4.166664568298827e-2F);
    c = c * y - half;
    c = c * y + constant(1.0F);
    const bool crossed = (quarter & 1) != 0;
    const float first = crossed ? s : c;
    const float second = crossed ? c : s;
    cosine = ((quarter + 1) & 2) != 0 ? -first : first;
    sine = (quarter & 2) != 0 ? -second : second;
  }
};

/// State of the learning rate; the same on every tile.
struct Rate {
  unsigned step;
  float rate;           // scheduled rate
  float first, second;  // decay factors to the power of `step`
  float step_size;      // this step's factor of the moments
  float root;           // sqrt(1 - second): this step's factor of Adam's epsilon
};

/// Loss scales of this step and the next; the same on every tile.
struct Scale {
  float scale;    // of the next step
  float used;     // of this step
  float skipped;  // 1: this step's gradients overflowed; nothing is updated
  float inverse;  // 1 / used
  unsigned good;  // steps since the scale changed or gradients overflowed
};

/// Adam as torch.optim.Adam, m_hat / (sqrt(v_hat) + epsilon): numerator and denominator are
/// multiplied by the root of v's correction, so that corrections are two numbers per step. Two
/// parameters at a time, except for roots and quotients.
struct Adam {
  double keep_first, keep_second, take_first, take_second;  // in both lanes
  float rate, epsilon;

  Adam(float first_decay, float second_decay, float its_epsilon, const Rate* of)
      : keep_first(xtile::splat_s(first_decay)),
        keep_second(xtile::splat_s(second_decay)),
        take_first(xtile::splat_s(constant(1.0F) - first_decay)),
        take_second(xtile::splat_s(constant(1.0F) - second_decay)),
        rate(of->step_size),
        epsilon(its_epsilon * of->root) {}

  /// Updates the next two weights by a word of gradients.
  __attribute__((always_inline)) void follow(double gradient, double*& first, double*& second,
                                             float*& weights) const {
    const double m = xtile::fma_2s(keep_first, *first, xtile::mul_2s(take_first, gradient));
    const double v = xtile::fma_2s(keep_second, *second,
                                   xtile::mul_2s(xtile::mul_2s(take_second, gradient), gradient));
    const float* moment = reinterpret_cast<const float*>(first);
    const float* square = reinterpret_cast<const float*>(second);
    xtile::fsd_p<8>(m, first);
    xtile::fsd_p<8>(v, second);
    follow(moment[0], square[0], weights);
    follow(moment[1], square[1], weights);
  }

 private:
  void follow(float m, float v, float*& weights) const {
    xtile::fsw_p<4>(*weights - rate * (m / (__builtin_sqrtf(v) + epsilon)), weights);
  }
};

}  // namespace training
