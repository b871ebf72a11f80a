#pragma once

#include <vector>

#include "sim/program/image.h"
#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

/// What a program costs that is planned by a sample: all steps of its fullest tile, as a program of
/// that tile alone, which sends to itself what it sends to others.
namespace tessera::kernels {

/// What an exchange of a sample stands for.
struct SampleExchange {
  ExchangeLoad load;
  std::uint64_t sends, receives;  ///< descriptors
};
struct Sample {
  program::Program program;
  std::vector<SampleExchange> exchanges;  ///< in their order
};
/// That the tile does among `tiles` with others what it does with itself.
SampleExchange sample_exchange(const program::Exchange& exchange, std::uint32_t tiles);
Sample sample_of(program::Program program, std::uint32_t tiles);

/// Its code is run on the machine's tile; every exchange takes what the fabric says of its load.
/// Leaves out waiting for others.
Prediction predict_sample(const Sample& sample, MachineCosts& costs);

/// Bytes of the tile: buffers side by side, code, lists of whole copies. The program that is
/// compiled needs no more, but for lists of copies that a schedule cuts.
program::CategoryBytes sample_memory(const Sample& sample, const TileConfig& tile);

}  // namespace tessera::kernels
