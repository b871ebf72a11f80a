#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>

#include "sim/machine/external_config.h"

namespace tessera::sample {

/// Returns one of the given values.
using Draw = std::function<std::uint32_t(std::initializer_list<std::uint32_t>)>;

/// External memory with a random, valid timing.
inline ExternalConfig random_external(const Draw& one_of) {
  ExternalConfig external;
  external.reach = one_of({0, 0, 1}) == 0 ? ExternalReach::chip : ExternalReach::tile;
  external.channels = one_of({1, 2, 3});
  external.mib_per_channel = 1;
  external.request_bytes = one_of({8, 32, 64, 128});
  external.interleave_bytes = external.request_bytes * one_of({0, 1, 2, 3, 4, 5});
  external.outstanding = one_of({1, 2, 3, 5, 8, 9});
  external.dma_bytes_per_cycle = one_of({1, 2, 3, 4, 7, 32, 50, 64});
  external.setup_cycles = one_of({0, 1, 5, 17, 40});
  external.way_cycles = one_of({0, 0, 1, 3, 17, 40, 50});
  external.window = one_of({1, 2, 3, 4, 6});
  DramConfig& dram = external.dram;
  dram.clock_ghz = one_of({1, 4, 5, 8, 12}) * 0.2;
  dram.bytes_per_clock = one_of({1, 3, 4, 7, 16, 20});
  dram.burst_bytes = one_of({8, 16, 32, 64});
  dram.row_bytes = std::max(external.request_bytes, dram.burst_bytes) << one_of({0, 1, 2, 3});
  dram.banks = one_of({1, 2, 3, 4, 6});
  const std::uint32_t most = one_of({0, 6, 40});
  for (std::uint32_t* clocks :
       {&dram.rcd_clocks, &dram.rp_clocks, &dram.ras_clocks, &dram.cl_clocks, &dram.cwl_clocks,
        &dram.wr_clocks, &dram.rtp_clocks, &dram.wtr_clocks, &dram.rtw_clocks})
    *clocks = one_of({0, most / 6, most / 3, most / 2, most - most / 5, most});
  if (one_of({0, 1, 1}) == 0) return external;
  dram.refi_clocks = one_of({60, 151, 400, 700, 900});
  dram.rfc_clocks = one_of({0, 7, 30, 59});
  return external;
}

}  // namespace tessera::sample
