#pragma once

#include <string>

#include "kernels/convnet/convnet.h"
#include "sim/config/config.h"

/// AIE arrays on which tests run networks.
namespace tessera::convnet {

/// An array of side x side cores, with memory tiles of `memory_kib` KiB; 0: as in the preset.
inline MachineConfig array(std::uint32_t side, std::uint32_t memory_kib = 0) {
  MachineConfig machine =
      config::load_machine(fmt::format("aie2_{}x{}", side, side), config::machine_presets());
  if (memory_kib != 0) machine.nodes[0].tile.sram_kib = memory_kib;
  return machine;
}

inline Options options_of(const std::string& network, double sparsity = 0) {
  return {.network = network, .sparsity = sparsity};
}

/// The model that `options` describe.
inline Model model_of(const Options& options, unsigned host_threads = 1) {
  HostThreads threads(host_threads);
  Given given = given_of(options);
  return make_model(std::move(given.file.network), given.file.weights, given.image, options.seed,
                    options.sparsity, threads);
}

}  // namespace tessera::convnet
