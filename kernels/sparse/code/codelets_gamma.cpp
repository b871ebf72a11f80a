// Tile code of W = gamma S + (1 - gamma) U V^T: weights and gradients times their factor, computed
// in f32 and rounded once, and the gradient of gamma.
#include "kernels/tile_code.h"

using namespace kernels;

namespace {

/// A worker's part: `runs` holds runs of elements with one factor, each as 4 * count + factor
/// number; the elements begin `offset` bytes from the start of each array.
struct Part {
  const unsigned* runs;
  unsigned count;
  unsigned offset;
};

struct Scaling {
  const void* from;
  void* to;
  const float* gamma;
  Parts<Part> parts;
};

constexpr unsigned kOfS = 0;
constexpr unsigned kOfUV = 1;  // 2: not scaled

/// The factor of each run, and its sign in the gradient of gamma.
struct Factors {
  float of_s, of_uv, one;

  explicit Factors(const float* gamma) : of_s(*gamma), one(constant(1.0F)) { of_uv = one - of_s; }
  float operator()(unsigned run) const {
    const unsigned number = run & 3;
    if (number == kOfS) return of_s;
    return number == kOfUV ? of_uv : one;
  }
  float sign(unsigned run) const {
    const unsigned number = run & 3;
    if (number == kOfS) return one;
    return number == kOfUV ? -one : 0.0F;
  }
};

double times(double word, double factor, float /*type*/) { return xtile::mul_2s(word, factor); }
double times(double word, double factor, Half /*type*/) {
  return xtile::pack_4h(xtile::mul_2s(xtile::unpkl_2s(word), factor),
                        xtile::mul_2s(xtile::unpkh_2s(word), factor));
}

void one_element(const float*& from, float*& to, float factor) {
  xtile::fsw_p<4>(xtile::flw_p<4>(from) * factor, to);
}
void one_element(const Half*& from, Half*& to, float factor) {
  xtile::fsh_p<2>(static_cast<Half>(static_cast<float>(xtile::flh_p<2>(from)) * factor), to);
}

/// to = factor * from. Runs may begin and end inside words.
template <class Number>
inline void scale(const Scaling* call) {
  constexpr unsigned kLanes = 8 / sizeof(Number);
  const Part part = call->parts.mine();
  const Number* from = static_cast<const Number*>(shifted(call->from, part.offset));
  Number* to = static_cast<Number*>(shifted(call->to, part.offset));
  const Factors factors(call->gamma);
  const unsigned* runs = part.runs;
  for (unsigned n = part.count; n != 0; --n) {
    const unsigned run = xtile::lw_p<4>(runs);
    const float factor = factors(run);
    unsigned left = run >> 2;
    for (; left != 0 && (reinterpret_cast<unsigned>(from) & 7) != 0; --left)
      one_element(from, to, factor);
    const double both = xtile::splat_s(factor);
    const double* in = reinterpret_cast<const double*>(from);
    double* out = reinterpret_cast<double*>(to);
    for (unsigned words = left / kLanes; words != 0; --words)
      xtile::fsd_p<8>(times(xtile::fld_p<8>(in), both, Number()), out);
    from = reinterpret_cast<const Number*>(in);
    to = reinterpret_cast<Number*>(out);
    for (left %= kLanes; left != 0; --left) one_element(from, to, factor);
  }
  xtile::xctl<0>();
}

}  // namespace

extern "C" void gamma_scale_f32(const Scaling* call) { scale<float>(call); }
extern "C" void gamma_scale_f16(const Scaling* call) { scale<Half>(call); }

namespace {

struct Gradients {
  double* gradients;  // in: with respect to gamma S and (1 - gamma) U; out: to S and U
  const double* weights;
  const float* gamma;
  float* sums;  // one per worker
  Parts<Part> parts;
};

double product(double a, double b, double sum, float /*type*/) { return xtile::fma_2s(a, b, sum); }
double product(double a, double b, double sum, Half /*type*/) {
  sum = xtile::fma_2s(xtile::unpkl_2s(a), xtile::unpkl_2s(b), sum);
  return xtile::fma_2s(xtile::unpkh_2s(a), xtile::unpkh_2s(b), sum);
}

/// The worker's part of the sum of gradient x weight over S minus the same sum over U. Runs are
/// whole words.
template <class Number>
inline void gradients(const Gradients* call) {
  const Part part = call->parts.mine();
  const double* from = shifted(call->gradients, part.offset);
  double* to = shifted(call->gradients, part.offset);
  const double* weights = shifted(call->weights, part.offset);
  const Factors factors(call->gamma);
  const unsigned* runs = part.runs;
  double all = xtile::splat_s(0.0F);
  for (unsigned n = part.count; n != 0; --n) {
    const unsigned run = xtile::lw_p<4>(runs);
    const double both = xtile::splat_s(factors(run));
    double sum = xtile::splat_s(0.0F);
    for (unsigned words = (run >> 2) / (8 / sizeof(Number)); words != 0; --words) {
      const double gradient = xtile::fld_p<8>(from);
      sum = product(gradient, xtile::fld_p<8>(weights), sum, Number());
      xtile::fsd_p<8>(times(gradient, both, Number()), to);
    }
    all = xtile::fma_2s(xtile::splat_s(factors.sign(run)), sum, all);
  }
  call->sums[xtile::worker()] = xtile::sum_2s(all);
  xtile::xctl<0>();
}

}  // namespace

extern "C" void gamma_gradients_f32(const Gradients* call) { gradients<float>(call); }
extern "C" void gamma_gradients_f16(const Gradients* call) { gradients<Half>(call); }

namespace {

struct Sum {
  const float* from;
  float* to;  // the sum, and three zeros
  unsigned count;
};

}  // namespace

/// Run by one worker.
extern "C" void gamma_sum(const Sum* call) {
  const float* from = call->from;
  float sum = 0.0F;
  for (unsigned n = call->count; n != 0; --n) sum += xtile::flw_p<4>(from);
  call->to[0] = sum;
  for (unsigned i = 1; i < 4; ++i) call->to[i] = 0.0F;
  xtile::xctl<0>();
}
