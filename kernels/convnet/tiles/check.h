#pragma once

#include "kernels/convnet/tiles/program.h"
#include "sim/base/parallel.h"
#include "sim/program/tensor_reader.h"
#include "sim/program/workload.h"

/// An independent reference: each layer once more in double, from what the machine made before it.
namespace tessera::convnet::tiles {

CheckResult check_layers(const Problem& problem, const Geometries& geometries,
                         const TensorReader& tensors, HostThreads& threads);

}  // namespace tessera::convnet::tiles
