// Tile code of training: the loss.
#include "kernels/training/tile_code.h"

using namespace training;

namespace {

struct CrossEntropy {
  const float* logits;  // rows of `pitch` floats, one a sample
  float* gradient;      // the same
  const unsigned* labels;
  float* results;  // of each sample: its loss, 1 if the largest logit is its label's
  unsigned samples, classes, pitch;
  float scale;           // of gradients: one over the batch
  unsigned rows;         // of the gradient: samples, and padding behind them
  const Scale* scaling;  // of f16
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

/// The same of f16: what is needed again is computed again, so that gradients are rounded once.
extern "C" void training_cross_entropy_f16(const CrossEntropy* call) {
  const Half* const logits = reinterpret_cast<const Half*>(call->logits);
  Half* const gradients = reinterpret_cast<Half*>(call->gradient);
  for (unsigned s = xtile::worker(); s < call->samples; s += xtile::workers()) {
    const Half* logit = logits + s * call->pitch;
    float largest = static_cast<float>(*logit);
    unsigned chosen = 0;
    for (unsigned c = 0; c < call->classes; ++c) {
      const float each = take(logit);
      if (!(each > largest)) continue;
      largest = each;
      chosen = c;
    }
    const unsigned label = call->labels[s];
    call->results[2 * s + 1] = chosen == label ? constant(1.0F) : 0.0F;
    logit = logits + s * call->pitch;
    const float log2_e = constant(1.4426950408889634F);
    float sum = 0.0F;
    for (unsigned n = call->classes; n != 0; --n)
      sum += xtile::act_exp2((take(logit) - largest) * log2_e);
    logit = logits + s * call->pitch;
    call->results[2 * s] = xtile::act_log2(sum) * constant(0.6931471805599453F) + largest -
                           static_cast<float>(logit[label]);
    const float scale = call->scale * call->scaling->scale;
    const float each = scale / sum;
    Half* gradient = gradients + s * call->pitch;
    for (unsigned c = 0; c < call->classes; ++c) {
      const float share = each * xtile::act_exp2((take(logit) - largest) * log2_e);
      put(c == label ? share - scale : share, gradient);
    }
    for (unsigned n = call->pitch - call->classes; n != 0; --n) put(0.0F, gradient);
  }
  for (unsigned row = call->samples + xtile::worker(); row < call->rows; row += xtile::workers()) {
    Half* gradient = gradients + row * call->pitch;
    for (unsigned n = call->pitch; n != 0; --n) put(0.0F, gradient);
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
