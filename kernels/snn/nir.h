#pragma once

#include <string>

#include "kernels/snn/network.h"
#include "sim/data/nir_network.h"

namespace tessera::snn {

/// The layers of a NIR network, whose equations are stepped by forward Euler in steps of
/// `seconds`: LIF and IF become lif, CubaLIF cuba_lif, LI an integrator. Voltages are counted from
/// v_reset, so that resets go to 0; v_leak is a bias. No second threshold: gradients stop.
/// UserErrors name `file` and the node: one that takes from others than the layer before it and
/// itself, a step longer than a time constant, a CubaLIF whose v_leak is not its v_reset, CubaLI,
/// an output that is not the last layer.
Network from_nir(const data::NirNetwork& nir, double seconds, const std::string& file);

}  // namespace tessera::snn
