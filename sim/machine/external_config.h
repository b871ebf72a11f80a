#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tessera::config {
class Fields;
}

namespace tessera {

/// The timing of one DRAM channel, in its own clocks; machine.external.dram. A channel has one
/// command and data bus, and banks with one open row each.
struct DramConfig {
  double clock_ghz = 1.0;              ///< clock of the numbers below
  std::uint32_t bytes_per_clock = 16;  ///< width of the data bus
  std::uint32_t burst_bytes = 64;      ///< bytes per read or write; a partial burst takes as long
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
  std::uint32_t refi_clocks = 0;  ///< interval of refreshes of all banks; 0: none
  std::uint32_t rfc_clocks = 0;   ///< duration of a refresh
};

/// What stores the bytes and times the transfers.
enum class ExternalModel : std::uint8_t {
  dram,     ///< our DRAM channels
  platform  ///< a TLM target of the SystemC platform around the machine
};

/// Which channels a tile reaches.
enum class ExternalReach : std::uint8_t {
  chip,  ///< every tile reaches all of the chip's channels
  tile   ///< each tile has channels of its own
};

/// Limits on transfers that workers start themselves (`ldma`, `sdma`); machine.external.worker_dma.
struct WorkerDmaConfig {
  std::uint32_t align_bytes = 8;  ///< addresses and sizes must be multiples
  std::uint32_t max_bytes = 2048;
};

/// External memory, and the DMA that connects tiles to it; machine.external.
struct ExternalConfig {
  ExternalModel model = ExternalModel::dram;
  ExternalReach reach = ExternalReach::chip;
  std::uint32_t channels = 1;
  std::uint32_t mib_per_channel = 1024;
  std::uint32_t interleave_bytes = 4096;   ///< consecutive bytes per channel; 0: the whole channel
  std::uint32_t request_bytes = 512;       ///< transfers are cut at multiples of this
  std::uint32_t outstanding = 8;           ///< requests in flight per tile
  std::uint32_t dma_bytes_per_cycle = 32;  ///< between a tile's DMA and the memory system
  std::uint32_t setup_cycles = 0;          ///< before the first request of a tile's transfer
  std::uint32_t way_cycles = 0;            ///< between a tile's DMA and a channel, each way
  std::uint32_t window = 8;                ///< requests among which a channel prefers open rows
  std::optional<WorkerDmaConfig> worker_dma;  ///< if given, supervisors start no transfers
  DramConfig dram;

  [[nodiscard]] std::uint64_t channel_bytes() const {
    return std::uint64_t{mib_per_channel} << 20U;
  }
  /// True if the machine models the channels itself; else `channels`, `interleave_bytes`, `window`
  /// and `dram` are unused.
  [[nodiscard]] bool has_channels() const { return model == ExternalModel::dram; }
  /// Capacity of one address space, as text: "2 channels of 16 MiB".
  [[nodiscard]] std::string shown_capacity() const;
  /// Bytes of one address space: the chip's, or each tile's.
  [[nodiscard]] std::uint64_t bytes() const {
    return (has_channels() ? channels : 1) * channel_bytes();
  }
  /// Lower bound, in cycles of `clock_ghz`, for moving `moved` bytes in all to and from `tiles`
  /// tiles. With a platform's memory only the tiles' DMA bounds it.
  [[nodiscard]] std::uint64_t least_cycles(std::uint64_t moved, std::uint32_t tiles,
                                           double clock_ghz) const;
};

void describe(config::Fields& fields, DramConfig& dram);
void describe(config::Fields& fields, WorkerDmaConfig& dma);
void describe(config::Fields& fields, ExternalConfig& external);

}  // namespace tessera
