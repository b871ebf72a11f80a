// Tile code of training, f32: what is done to single elements. A worker's part is a stretch of
// 64-bit words, at least none; matrices are padded with zeros. Every call ends its worker.
#include "kernels/training/tile_code.h"

using namespace training;

namespace {

/// GELU by its usual approximation, x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))): arXiv
/// 1606.08415.
struct Gelu {
  float scale = constant(0.7978845608028654F);
  float cube = constant(0.044715F);
  float half = constant(0.5F);
  float one = constant(1.0F);
  float three = constant(3.0F);

  float value(float z) const {
    const float t = xtile::act_tanh(scale * (z + cube * z * z * z));
    return half * z * (one + t);
  }
  float slope(float z) const {
    const float t = xtile::act_tanh(scale * (z + cube * z * z * z));
    const float inner = scale * (one + three * cube * z * z);
    return half * (one + t) + half * z * (one - t * t) * inner;
  }
};

/// out = f(z), or out = gradient of the output times f'(z).
struct Activation {
  const double* z;
  const double* gradient;
  double* out;
  unsigned padding;
  Part parts[1];

  Part mine() const { return (&parts[0])[xtile::worker()]; }
};

}  // namespace

extern "C" void training_relu(const Activation* call) {
  const Part part = call->mine();
  const double* z = shifted(call->z, part.offset);
  double* out = shifted(call->out, part.offset);
  const double zero = xtile::splat_s(0.0F);
  for (unsigned n = part.words; n != 0; --n)
    xtile::fsd_p<8>(xtile::max_2s(xtile::fld_p<8>(z), zero), out);
  xtile::xctl<0>();
}

extern "C" void training_relu_slope(const Activation* call) {
  const Part part = call->mine();
  const double* z = shifted(call->z, part.offset);
  const double* gradient = shifted(call->gradient, part.offset);
  double* out = shifted(call->out, part.offset);
  const double zero = xtile::splat_s(0.0F);
  for (unsigned n = part.words; n != 0; --n) {
    const double positive = xtile::gt_2s(xtile::fld_p<8>(z), zero);
    xtile::fsd_p<8>(xtile::sel(positive, xtile::fld_p<8>(gradient), zero), out);
  }
  xtile::xctl<0>();
}

extern "C" void training_gelu(const Activation* call) {
  const Part part = call->mine();
  const float* z = reinterpret_cast<const float*>(shifted(call->z, part.offset));
  float* out = reinterpret_cast<float*>(shifted(call->out, part.offset));
  const Gelu gelu;
  for (unsigned n = 2 * part.words; n != 0; --n)
    xtile::fsw_p<4>(gelu.value(xtile::flw_p<4>(z)), out);
  xtile::xctl<0>();
}

extern "C" void training_gelu_slope(const Activation* call) {
  const Part part = call->mine();
  const float* z = reinterpret_cast<const float*>(shifted(call->z, part.offset));
  const float* gradient = reinterpret_cast<const float*>(shifted(call->gradient, part.offset));
  float* out = reinterpret_cast<float*>(shifted(call->out, part.offset));
  const Gelu gelu;
  for (unsigned n = 2 * part.words; n != 0; --n)
    xtile::fsw_p<4>(xtile::flw_p<4>(gradient) * gelu.slope(xtile::flw_p<4>(z)), out);
  xtile::xctl<0>();
}

namespace {

struct Clearing {
  double* base;
  unsigned padding;
  Part parts[1];

  Part mine() const { return (&parts[0])[xtile::worker()]; }
};

}  // namespace

extern "C" void training_clear(const Clearing* call) {
  const Part part = call->mine();
  double* out = shifted(call->base, part.offset);
  const double zero = xtile::splat_s(0.0F);
  for (unsigned n = part.words; n != 0; --n) xtile::fsd_p<8>(zero, out);
  xtile::xctl<0>();
}

namespace {

/// Rows of 64-bit words on a tile, dealt to workers, and a number for each.
struct RowNumbers {
  double* rows;
  float* numbers;
  unsigned words;  // of a row
  unsigned count;  // rows
};

}  // namespace

/// Adds to each row its number.
extern "C" void training_add_bias(const RowNumbers* call) {
  for (unsigned row = xtile::worker(); row < call->count; row += xtile::workers()) {
    double* at = call->rows + row * call->words;
    const double bias = xtile::splat_s(call->numbers[row]);
    for (unsigned n = call->words; n != 0; --n) xtile::fsd_p<8>(xtile::add_2s(*at, bias), at);
  }
  xtile::xctl<0>();
}

/// The sum of each row.
extern "C" void training_row_sums(const RowNumbers* call) {
  for (unsigned row = xtile::worker(); row < call->count; row += xtile::workers()) {
    const float* at = reinterpret_cast<const float*>(call->rows + row * call->words);
    float sum = 0.0F;
    for (unsigned n = 2 * call->words; n != 0; --n) sum += xtile::flw_p<4>(at);
    call->numbers[row] = sum;
  }
  xtile::xctl<0>();
}

namespace {

struct Rotations {
  const float* angles;
  float* turns;  // cosine and sine of each
  unsigned count;
};

}  // namespace

extern "C" void training_rotations(const Rotations* call) {
  for (unsigned i = xtile::worker(); i < call->count; i += xtile::workers()) {
    const Turn turn(call->angles[i]);
    call->turns[2 * i] = turn.cosine;
    call->turns[2 * i + 1] = turn.sine;
  }
  xtile::xctl<0>();
}

namespace {

struct Filling {
  float* base;
  const unsigned* offsets;  // bytes
  unsigned count;
  float value;
};

}  // namespace

/// Stores a value at some offsets; one worker.
extern "C" void training_fill(const Filling* call) {
  const unsigned* offset = call->offsets;
  for (unsigned n = call->count; n != 0; --n)
    *shifted(call->base, xtile::lw_p<4>(offset)) = call->value;
  xtile::xctl<0>();
}
