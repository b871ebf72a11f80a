// Tile code of a time step backwards: gradients of weights and of the spikes that a tile received.
#include "kernels/snn/tile_code.h"

using namespace snn;

namespace {

struct WeightGradient {
  unsigned samples, pairs, copies;
  double* gradients;     // [copy][pair][row]
  unsigned copy, plane;  // bytes
  const double* inputs;  // [sample][pair]
  Source source;
};

}  // namespace

/// Adds to the gradients of the weights of spikes. Each worker has pairs of neurons of its own, or,
/// if there are more workers than pairs, a copy of the gradients and every so many samples.
extern "C" void snn_weight_gradient(const WeightGradient* call) {
  const unsigned worker = xtile::worker();
  unsigned copy = 0;
  unsigned pair = worker;
  unsigned next = xtile::workers();
  if (call->copies > 1) {
    for (; pair >= call->pairs; ++copy) pair -= call->pairs;
    next = call->pairs;
  }
  if (copy < call->copies) {
    for (; pair < call->pairs; pair += next) {
      double* plane =
          shifted(call->gradients, copy * call->copy + pair * call->plane + call->source.rows);
      for (unsigned b = copy; b < call->samples; b += call->copies) {
        const unsigned* list = shifted(call->source.lists, b * call->source.stride);
        scatter_add(plane, list + kHeader, list[0], call->inputs[b * call->pairs + pair]);
      }
    }
  }
  xtile::xctl<0>();
}

namespace {

struct InputGradient {
  unsigned samples, pairs;
  const double* weights;
  unsigned plane;
  const double* inputs;  // [sample][pair]
  float* gradients;
  unsigned stride;  // bytes from sample to sample
  Source source;
};

}  // namespace

/// Gradients of listed spikes, as far as this tile's neurons go.
extern "C" void snn_input_gradient(const InputGradient* call) {
  for (unsigned b = xtile::worker(); b < call->samples; b += xtile::workers()) {
    const unsigned* list = shifted(call->source.lists, b * call->source.stride);
    const double* plane = shifted(call->weights, call->source.rows);
    const double* input = call->inputs + b * call->pairs;
    float* out = shifted(call->gradients, b * call->stride);
    gather_dot(plane, list + kHeader, list[1], *input, out);
    for (unsigned pair = 1; pair < call->pairs; ++pair) {
      plane = shifted(plane, call->plane);
      ++input;
      gather_add_dot(plane, list + kHeader, list[1], *input, out);
    }
  }
  xtile::xctl<0>();
}
