#pragma once

#include <string>

#include "kernels/snn/network.h"
#include "sim/data/nir_network.h"

namespace tessera::snn {

/// The layers of a NIR network, whose equations are stepped by forward Euler in steps of
/// `seconds`: LIF and IF become lif, CubaLIF cuba_lif, whose voltage takes the current of the same
/// step, LI an integrator. Voltages are counted from
/// v_reset, so that resets go to 0; v_leak is a bias. Neurons carry gradient from 0.9 of the way to
/// their threshold on, as in arXiv 2311.04386. UserErrors name `file` and the node: more than
/// 65,535 inputs or neurons, more than 2^28 weights, an LI that is not last, one that takes from
/// others than the layer before it and itself or, as an LI, from itself, a step longer than a time
/// constant, a CubaLIF whose v_leak is not its v_reset, an output that is not the last layer.
Network from_nir(const data::NirNetwork& nir, double seconds, const std::string& file);

/// What a user must know of how the equations are stepped, in a few words.
std::string stepping(const Network& network, double seconds);

/// Refuses to train matrices that are not those of one Linear or Affine each, used once: a
/// convolution's or a pooling's would lose shared weights and zeros, a product's of two its rank.
void require_trainable(const data::NirNetwork& nir, const std::string& file);

}  // namespace tessera::snn
