// Tile code of training, f32: what is done to single elements, the loss, the optimisers. A worker's
// part is a stretch of 64-bit words, at least none; matrices are padded with zeros. Every call ends
// its worker.
#include "xtile.h"

namespace {

/// A worker's words, from a byte offset on.
struct Part {
  unsigned offset, words;
};

template <class T>
T* shifted(T* base, unsigned bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<unsigned>(base) + bytes);
}

using xtile::constant;  // there is no pool of constants

/// Cosine and sine of an angle: what it has beside whole quarter turns, then their series to the
/// seventh and eighth power, of which the next terms are below 2^-24 within an eighth of a turn.
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
    float s = constant(-1.0F / 5040) * y + constant(1.0F / 120);
    s = s * y - constant(1.0F / 6);
    s = s * y * x + x;
    float c = constant(1.0F / 40320) * y - constant(1.0F / 720);
    c = c * y + constant(1.0F / 24);
    c = c * y - half;
    c = c * y + constant(1.0F);
    const bool crossed = (quarter & 1) != 0;
    const float first = crossed ? s : c;
    const float second = crossed ? c : s;
    cosine = ((quarter + 1) & 2) != 0 ? -first : first;
    sine = (quarter & 2) != 0 ? -second : second;
  }
};

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

namespace {

struct CrossEntropy {
  const float* logits;  // rows of `pitch` floats, one a sample
  float* gradient;      // the same
  const unsigned* labels;
  float* results;  // of each sample: its loss, 1 if the largest logit is its label's
  unsigned samples, classes, pitch;
  float scale;    // of gradients: one over the batch
  unsigned rows;  // of the gradient: samples, and padding behind them
};

}  // namespace

/// Softmax and cross-entropy of this worker's samples, and the gradient of the logits. Workers have
/// no stack: what is needed once a sample is read again.
extern "C" void training_cross_entropy(const CrossEntropy* call) {
  for (unsigned s = xtile::worker(); s < call->samples; s += xtile::workers()) {
    const unsigned row = s * call->pitch;
    const float* logit = call->logits + row;
    float largest = *logit;
    unsigned chosen = 0;
    for (unsigned c = 0; c < call->classes; ++c) {
      const float each = xtile::flw_p<4>(logit);
      if (!(each > largest)) continue;
      largest = each;
      chosen = c;
    }
    const unsigned label = call->labels[s];
    call->results[2 * s + 1] = chosen == label ? constant(1.0F) : 0.0F;
    logit = call->logits + row;
    float* gradient = call->gradient + row;
    const float log2_e = constant(1.4426950408889634F);
    float sum = 0.0F;
    for (unsigned n = call->classes; n != 0; --n) {
      const float e = xtile::act_exp2((xtile::flw_p<4>(logit) - largest) * log2_e);
      xtile::fsw_p<4>(e, gradient);
      sum += e;
    }
    for (unsigned n = call->pitch - call->classes; n != 0; --n) xtile::fsw_p<4>(0.0F, gradient);
    const float scale = call->scale;
    const float each = scale / sum;
    gradient = call->gradient + row;
    for (unsigned n = call->classes; n != 0; --n) xtile::fsw_p<4>(*gradient * each, gradient);
    call->gradient[row + label] -= scale;
    call->results[2 * s] =
        xtile::act_log2(sum) * constant(0.6931471805599453F) + largest - call->logits[row + label];
  }
  for (unsigned row = call->samples + xtile::worker(); row < call->rows; row += xtile::workers()) {
    float* gradient = call->gradient + row * call->pitch;
    for (unsigned n = call->pitch; n != 0; --n) xtile::fsw_p<4>(0.0F, gradient);
  }
  xtile::xctl<0>();
}

namespace {

struct Totals {
  const float* results;
  float* totals;  // mean loss, number of right ones
  unsigned samples;
  float scale;
};

}  // namespace

/// Adds up results of samples in their order; one worker.
extern "C" void training_totals(const Totals* call) {
  const float* result = call->results;
  float loss = 0.0F;
  float right = 0.0F;
  for (unsigned n = call->samples; n != 0; --n) {
    loss += xtile::flw_p<4>(result);
    right += xtile::flw_p<4>(result);
  }
  call->totals[0] = loss * call->scale;
  call->totals[1] = right;
  xtile::xctl<0>();
}

namespace {

/// What changes from step to step, and is the same on every tile.
struct Rate {
  unsigned step;
  float rate;           // of the next step
  float first, second;  // powers of the decays of the moments
  float step_size;      // what the moments are worth in this step
};

struct Schedule {
  Rate* rate;
  unsigned every;  // the rate falls so after so many steps; 0: never
  float factor;
  float first_decay, second_decay;  // zero: no moments
  unsigned warm_up;
  float wave;  // the angle of a step
  float lowest;
};

}  // namespace

namespace {

/// Counts the step that begins and what the moments are worth.
inline void next_step(const Schedule* call) {
  Rate* const rate = call->rate;
  if (call->every != 0 && rate->step != 0 && rate->step % call->every == 0)
    rate->rate *= call->factor;
  rate->step += 1;
  rate->first *= call->first_decay;
  rate->second *= call->second_decay;
  const float one = constant(1.0F);
  rate->step_size = rate->rate * __builtin_sqrtf(one - rate->second) / (one - rate->first);
}

}  // namespace

/// The step size of the step that begins; one worker.
extern "C" void training_schedule(const Schedule* call) {
  next_step(call);
  xtile::xctl<0>();
}

/// The same where rates rise at first, or follow a wave.
extern "C" void training_schedule_waves(const Schedule* call) {
  next_step(call);
  Rate* const rate = call->rate;
  if (rate->step < call->warm_up)
    rate->step_size *= static_cast<float>(rate->step) / static_cast<float>(call->warm_up);
  const float one = constant(1.0F);
  const float lowest = call->lowest;
  const Turn turn(static_cast<float>(rate->step - 1) * call->wave);
  if (call->wave != 0.0F)
    rate->step_size *= lowest + (one - lowest) * constant(0.5F) * (one + turn.cosine);
  xtile::xctl<0>();
}

namespace {

struct Update {
  float* weights;
  const float* gradient;
  float* first;  // moments, or the velocity
  float* second;
  const Rate* rate;
  float first_decay, second_decay, epsilon;
  Part parts[1];

  Part mine() const { return (&parts[0])[xtile::worker()]; }
};

}  // namespace

/// Momentum: velocity = decay velocity + gradient; weights -= rate velocity.
extern "C" void training_momentum(const Update* call) {
  const Part part = call->mine();
  const double* gradient = reinterpret_cast<const double*>(shifted(call->gradient, part.offset));
  double* velocity = reinterpret_cast<double*>(shifted(call->first, part.offset));
  double* weights = reinterpret_cast<double*>(shifted(call->weights, part.offset));
  const double decay = xtile::splat_s(call->first_decay);
  const double rate = xtile::splat_s(-call->rate->step_size);
  for (unsigned n = part.words; n != 0; --n) {
    const double v = xtile::fma_2s(decay, *velocity, xtile::fld_p<8>(gradient));
    xtile::fsd_p<8>(v, velocity);
    xtile::fsd_p<8>(xtile::fma_2s(rate, v, *weights), weights);
  }
  xtile::xctl<0>();
}

/// Adam (arXiv 1412.6980), its corrections in the step size: the form before its section 3.
extern "C" void training_adam(const Update* call) {
  const Part part = call->mine();
  const float* gradient = shifted(call->gradient, part.offset);
  float* first = shifted(call->first, part.offset);
  float* second = shifted(call->second, part.offset);
  float* weights = shifted(call->weights, part.offset);
  const float keep_first = call->first_decay;
  const float keep_second = call->second_decay;
  const float epsilon = call->epsilon;
  const float rate = call->rate->step_size;
  const float take_first = constant(1.0F) - keep_first;
  const float take_second = constant(1.0F) - keep_second;
  for (unsigned n = 2 * part.words; n != 0; --n) {
    const float g = xtile::flw_p<4>(gradient);
    const float m = keep_first * *first + take_first * g;
    const float v = keep_second * *second + take_second * g * g;
    xtile::fsw_p<4>(m, first);
    xtile::fsw_p<4>(v, second);
    xtile::fsw_p<4>(*weights - rate * m / (__builtin_sqrtf(v) + epsilon), weights);
  }
  xtile::xctl<0>();
}
