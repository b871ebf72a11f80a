#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tessera::config {
class Fields;
}

namespace tessera {

/// The timing of one DRAM channel, in its own clocks; machine.external.dram. A channel has one
/// command and data bus, and banks that each keep one row open.
struct DramConfig {
  double clock_ghz = 1.0;              ///< that the numbers below count in
  std::uint32_t bytes_per_clock = 16;  ///< width of the data bus
  std::uint32_t burst_bytes = 64;      ///< moved by a read or write; a part of one takes as long
  std::uint32_t banks = 16;
  std::uint32_t row_bytes = 2048;
  std::uint32_t rcd_clocks = 0;   ///< activate to read or write
  std::uint32_t rp_clocks = 0;    ///< precharge to activate
  std::uint32_t ras_clocks = 0;   ///< activate to precharge
  std::uint32_t cl_clocks = 0;    ///< read to its first data
  std::uint32_t cwl_clocks = 0;   ///< write to its first data
  std::uint32_t wr_clocks = 0;    ///< last data written to precharge
  std::uint32_t rtp_clocks = 0;   ///< read to precharge
  std::uint32_t wtr_clocks = 0;   ///< last data written to read
  std::uint32_t rtw_clocks = 0;   ///< last data read to first data written
  std::uint32_t refi_clocks = 0;  ///< between refreshes of all banks; 0: none
  std::uint32_t rfc_clocks = 0;   ///< that a refresh takes
};

/// Who keeps the bytes, and says when they pass.
enum class ExternalModel : std::uint8_t {
  dram,     ///< our DRAM channels
  platform  ///< a TLM target of the SystemC platform around the machine
};

/// Who reaches which channels.
enum class ExternalReach : std::uint8_t {
  chip,  ///< every tile reaches all of the chip's channels
  tile   ///< each tile has channels of its own
};

/// Transfers that workers start by themselves (`ldma`, `sdma`): what of them the DMA takes;
/// machine.external.worker_dma.
struct WorkerDmaConfig {
  std::uint32_t align_bytes = 8;  ///< addresses and sizes are multiples
  std::uint32_t max_bytes = 2048;
};

/// Memory outside the tiles, and the DMA by which tiles reach it; machine.external.
struct ExternalConfig {
  ExternalModel model = ExternalModel::dram;
  ExternalReach reach = ExternalReach::chip;
  std::uint32_t channels = 1;
  std::uint32_t mib_per_channel = 1024;
  std::uint32_t interleave_bytes = 4096;      ///< neighbours in one channel; 0: a whole channel's
  std::uint32_t request_bytes = 512;          ///< a transfer is cut at multiples of these
  std::uint32_t outstanding = 8;              ///< requests of one tile under way
  std::uint32_t dma_bytes_per_cycle = 32;     ///< between a tile and the ways to memory
  std::uint32_t setup_cycles = 0;             ///< before the first request of each tile's transfer
  std::uint32_t way_cycles = 0;               ///< from a tile's DMA to a channel, and back again
  std::uint32_t window = 8;                   ///< requests among which a channel prefers open rows
  std::optional<WorkerDmaConfig> worker_dma;  ///< if given supervisors start no transfers
  DramConfig dram;

  [[nodiscard]] std::uint64_t channel_bytes() const {
    return std::uint64_t{mib_per_channel} << 20U;
  }
  /// True if channels of ours are asked; else `channels`, `interleave_bytes`, `window` and `dram`
  /// say nothing.
  [[nodiscard]] bool has_channels() const { return model == ExternalModel::dram; }
  /// "2 channels of 16 MiB": one address space.
  [[nodiscard]] std::string shown_capacity() const;
  /// That one address space holds: the chip's, or each tile's.
  [[nodiscard]] std::uint64_t bytes() const {
    return (has_channels() ? channels : 1) * channel_bytes();
  }
  /// Cycles of `clock_ghz` that `moved` bytes take at least, in all, from and to `tiles` tiles. A
  /// platform's memory bounds nothing.
  [[nodiscard]] std::uint64_t least_cycles(std::uint64_t moved, std::uint32_t tiles,
                                           double clock_ghz) const;
};

void describe(config::Fields& fields, DramConfig& dram);
void describe(config::Fields& fields, WorkerDmaConfig& dma);
void describe(config::Fields& fields, ExternalConfig& external);

}  // namespace tessera
