#pragma once

#include <vector>

#include "kernels/snn/snn.h"
#include "kernels/training/products.h"
#include "kernels/training/statement.h"

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

/// The program of such a network. All arguments, and what `subject` names, outlive it.
plan::Description describe_program(const Subject& subject,
                                   const std::vector<training::DensePlan>& plans,
                                   const training::TileCode& code);
/// The tiles that stand for all others.
std::vector<plan::Tile> representatives(const std::vector<training::DensePlan>& plans);

}  // namespace tessera::snn
