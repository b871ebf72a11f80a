#pragma once

#include <map>
#include <vector>

#include "kernels/snn/snn.h"
#include "kernels/training/products.h"

/// The same network with dense activations: every spike vector is a matrix of zeros and ones, every
/// layer a product on the matrix units, forward and back. What the gain of lists is measured
/// against.
namespace tessera::snn {

/// Refuses what dense activations do not have (a KeyError): other neurons than lif, recurrent
/// layers, tests.
void require_dense(const Options& options);

/// By layer.
std::vector<training::DensePlan> plan_dense(const Options& options, const Network& network,
                                            MachineCosts& costs);

}  // namespace tessera::snn
