#pragma once

#include <map>
#include <vector>

#include "kernels/snn/snn.h"
#include "kernels/training/products.h"

/// The same network with dense activations: every spike vector is a matrix of zeros and ones, every
/// layer a product on the matrix units, forward and back. What the gain of lists is measured
/// against.
namespace tessera::snn {

/// The products of one layer.
struct DenseLayer {
  training::PlannedProduct forward, weight_gradient, input_gradient;
};

/// Refuses what dense activations do not have (a KeyError): other neurons than lif, recurrent
/// layers, tests.
void require_dense(const Options& options);

std::vector<DenseLayer> plan_dense(const Options& options, const Network& network,
                                   MachineCosts& costs);

nlohmann::ordered_json to_json(const std::vector<DenseLayer>& layers);

}  // namespace tessera::snn
