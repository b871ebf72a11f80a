#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>

#include "sim/machine/external_config.h"

namespace tessera::sample {

/// One of the values.
using Draw = std::function<std::uint32_t(std::initializer_list<std::uint32_t>)>;

inline ExternalConfig random_external(const Draw& one_of) {
  ExternalConfig external;
  external.reach = one_of({0, 1}) == 0 ? ExternalReach::chip : ExternalReach::tile;
  external.channels = one_of({1, 2, 3});
  external.mib_per_channel = 1;
  external.request_bytes = one_of({8, 64});
  external.interleave_bytes = external.request_bytes * one_of({0, 1, 4});
  external.outstanding = one_of({1, 2, 8});
  external.dma_bytes_per_cycle = one_of({1, 4, 32});
  external.setup_cycles = one_of({0, 5});
  external.way_cycles = one_of({0, 3, 40});
  external.window = one_of({1, 4});
  DramConfig& dram = external.dram;
  dram.clock_ghz = one_of({1, 2}) * 0.8;
  dram.bytes_per_clock = one_of({4, 16});
  dram.burst_bytes = one_of({8, 32});
  dram.banks = one_of({1, 4});
  dram.row_bytes = 64;
  dram.rcd_clocks = dram.rp_clocks = dram.cl_clocks = one_of({0, 9});
  dram.ras_clocks = 2 * dram.rcd_clocks;
  dram.cwl_clocks = dram.wtr_clocks = one_of({0, 5});
  if (one_of({0, 1}) == 1) {
    dram.refi_clocks = 700;
    dram.rfc_clocks = 60;
  }
  return external;
}

}  // namespace tessera::sample
